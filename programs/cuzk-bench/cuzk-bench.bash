# bash completion for cuzk-bench
_cuzk_bench()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "run list report compare sweep smoke --help --version" -- "$cur")
        return
    fi
    case $prev in
    --db | -d | --key | -k | --output | -o | --rssmon) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    --logs | -l) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
    esac
    local options="--help"
    case $command in
    run) options="--db --name --set --proofs --warmup --per-run --key --tag --logs --rssmon --revision --resume --keep-going --json --help" ;;
    list | report) options="--db --json --help" ;;
    compare) options="--db --max-slower --max-increase --force --json --help" ;;
    sweep) options="--db --output --json --help" ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
}
complete -o default -F _cuzk_bench cuzk-bench
