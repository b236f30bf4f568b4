# bash completion for rssmon
_rssmon() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i cmd=record
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        record | mark | plot | report | compare) cmd=${COMP_WORDS[i]} && break ;;
        --) _command_offset $((i + 1)) 2>/dev/null && return ;;
        esac
    done
    case $prev in
    -p | --pid) COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$cur")) && return ;;
    --format) COMPREPLY=($(compgen -W "jsonl csv" -- "$cur")) && return ;;
    --unit) COMPREPLY=($(compgen -W "$(systemctl list-units --plain --no-legend 2>/dev/null | cut -d' ' -f1)" -- "$cur")) && return ;;
    -m | --match | -d | --duration | --tag | --interval | --max-interval | --log-interval | --max | \
        --min-available | --exec | --pattern | --pattern-begin | --pattern-end | --segment-size | \
        --keep-segments | -t | --text | --title | --size | --max-increase | --phase)
        [[ $cmd$prev != record-t ]] && return ;;
    --env) COMPREPLY=($(compgen -e -- "$cur")) && return ;;
    --cgroup | --cgroup-root | --proc-root) COMPREPLY=($(compgen -d -- "$cur")) && return ;;
    esac
    if [[ $cur == -* ]]; then
        local options=--help
        case $cmd in
        record) options="--pid --pidfile --match --exe --cgroup --unit --newest --all --tree --until-all
            --wait --follow --duration --log --no-log --format --append --overwrite --segment-size
            --keep-segments --tag --env --plain --quiet --interval --max-interval --log-interval --pss
            --gpu --no-gpu --nvml --fifo --watch --pattern --pattern-begin --pattern-end --account --max
            --min-available --exec --proc-root --cgroup-root --kmsg --help --version" ;;
        mark) options="--log --pid --begin --end --text --help" ;;
        plot) options="--output --title --account --max --size --live --ascii --no-color --help" ;;
        report) options="--json --help" ;;
        compare) options="--vs --max-increase --phase --json --help" ;;
        esac
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
    elif ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "record mark plot report compare" -- "$cur"))
    else
        COMPREPLY=($(compgen -f -- "$cur"))
    fi
}
complete -o filenames -F _rssmon rssmon
