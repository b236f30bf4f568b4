# fish completion for cuzk-bench
complete -c cuzk-bench -n __fish_use_subcommand -f -a 'run' -d 'run a command over a matrix of settings'
complete -c cuzk-bench -n __fish_use_subcommand -f -a 'list report' -d 'experiments and their figures'
complete -c cuzk-bench -n __fish_use_subcommand -f -a 'compare' -d 'two experiments'
complete -c cuzk-bench -n __fish_use_subcommand -f -a 'sweep' -d 'the knee of time against memory'
complete -c cuzk-bench -n __fish_use_subcommand -f -a 'smoke' -d 'a short run of everything'
complete -c cuzk-bench -s d -l db -r -d 'results file'
complete -c cuzk-bench -n '__fish_seen_subcommand_from run' -s n -l name -x -d 'of the experiment'
complete -c cuzk-bench -n '__fish_seen_subcommand_from run' -s s -l set -x -d 'name=value,value'
complete -c cuzk-bench -n '__fish_seen_subcommand_from run' -s p -l proofs -x -d 'counted runs'
complete -c cuzk-bench -n '__fish_seen_subcommand_from run' -s w -l warmup -x -d 'uncounted runs'
complete -c cuzk-bench -n '__fish_seen_subcommand_from run' -l per-run -x -d 'proofs a run makes'
complete -c cuzk-bench -n '__fish_seen_subcommand_from run' -s k -l key -r -d 'key in use'
complete -c cuzk-bench -n '__fish_seen_subcommand_from run' -s r -l resume -d 'go on'
complete -c cuzk-bench -n '__fish_seen_subcommand_from run' -l keep-going -d 'record failures'
complete -c cuzk-bench -n '__fish_seen_subcommand_from compare' -l max-slower -x -d percent
complete -c cuzk-bench -n '__fish_seen_subcommand_from compare' -l max-increase -x -d percent
complete -c cuzk-bench -n '__fish_seen_subcommand_from compare' -l force -d 'compare all the same'
complete -c cuzk-bench -n '__fish_seen_subcommand_from sweep' -s o -l output -r -d picture
complete -c cuzk-bench -n '__fish_seen_subcommand_from run list report compare sweep' -l json -d 'for machines'
