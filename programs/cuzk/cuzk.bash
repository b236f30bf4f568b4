# bash completion for cuzk
_cuzk()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
    local circuits="porep-2KiB porep-8MiB porep-512MiB porep-32GiB porep-64GiB porep-mini32"
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "setup prove verify inspect export shape witness inputs mock-sector devices version help --help --version" -- "$cur")
        return
    fi
    case $prev in
    --circuit) mapfile -t COMPREPLY < <(compgen -W "$circuits" -- "$cur"); return ;;
    --isa) mapfile -t COMPREPLY < <(compgen -W "portable x86_64-adx" -- "$cur"); return ;;
    --device)
        if [ "$command" = prove ]; then
            mapfile -t COMPREPLY < <(compgen -W "auto cpu cuda cuda:0 cuda:all" -- "$cur")
        else
            mapfile -t COMPREPLY < <(compgen -W "auto cpu cuda cuda:0" -- "$cur")
        fi
        return ;;
    --out)
        if [ "$command" = export ]; then
            mapfile -t COMPREPLY < <(compgen -d -- "$cur")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        fi
        return ;;
    --params | --vk | --proof | --c1 | --statement | --public | --r1cs | --chunks | --insecure-waste | --make-key)
        mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    --threads | --memory | --device-memory | --miner | --sector | --insecure-rs | --repeat | --overlap | --partition | --seed) return ;;
    esac
    local options=""
    case $command in
    setup) options="--out --vk --insecure-waste --threads --memory --isa --device" ;;
    prove) options="--params --make-key --insecure-waste --c1 --r1cs --out --circuit --miner --sector --insecure-rs --threads --memory --device-memory --isa --device --repeat --overlap" ;;
    verify) options="--vk --proof --c1 --statement --public --r1cs --circuit --miner --sector" ;;
    inspect) options="--full --circuit --threads" ;;
    export) options="--vk --proof --c1 --statement --r1cs --circuit --partition --out" ;;
    shape) options="--chunks" ;;
    witness) options="--c1 --circuit --partition --chunks --threads" ;;
    inputs) options="--circuit --partition" ;;
    mock-sector) options="--seed --out --statement" ;;
    help) mapfile -t COMPREPLY < <(compgen -W "setup prove verify inspect export shape witness inputs mock-sector devices version" -- "$cur"); return ;;
    esac
    options="$options --json --help"
    if [[ $cur != -* ]]; then
        case $command in
        setup | shape | inspect | mock-sector) mapfile -t COMPREPLY < <(compgen -W "$circuits" -- "$cur"; compgen -f -- "$cur"); return ;;
        inputs) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
}
complete -o filenames -F _cuzk cuzk
