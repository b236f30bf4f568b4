#compdef cuzk-bench
local -a commands
commands=('run:run a command over a matrix of settings' 'list:the experiments' 'report:figures of an experiment'
  'compare:two experiments' 'sweep:the knee of time against memory' 'smoke:a short run of everything')
if (( CURRENT == 2 )); then
  _describe command commands
  return
fi
case $words[2] in
run) _arguments '--db[results]:file:_files' '--name[of the experiment]:name:' '*--set[a setting]:name=values:' \
  '--proofs[counted runs]:number:' '--warmup[uncounted runs]:number:' '--per-run[proofs a run]:number:' \
  '--key[key in use]:file:_files' '--tag[kept with it]:text:' '--logs[folder of memory logs]:dir:_files -/' \
  '--rssmon[the monitor]:file:_files' '--revision[of the sources]:text:' '--resume[go on]' \
  '--keep-going[record failures]' '--json[for machines]' '*::command:_normal' ;;
list|report) _arguments '--db[results]:file:_files' '--json[for machines]' '*:experiment:' ;;
compare) _arguments '--db[results]:file:_files' '--max-slower[percent]:percent:' '--max-increase[percent]:percent:' \
  '--force[compare all the same]' '--json[for machines]' '*:experiment:' ;;
sweep) _arguments '--db[results]:file:_files' '--output[picture]:file:_files' '--json[for machines]' '*:experiment:' ;;
esac
