#compdef rssmon
local -a commands
commands=('record:watch a target and write its log' 'mark:put a marker into a running log'
  'plot:draw logs' 'report:what logs say' 'compare:two groups of runs')
if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
  _describe command commands
  return
fi
case $words[2] in
mark) _arguments '(-l --log)'{-l,--log}'[log of the monitor]:file:_files' '(-p --pid)'{-p,--pid}'[monitor]:pid:_pids' \
  '(-b --begin)'{-b,--begin}'[a phase begins]' '(-e --end)'{-e,--end}'[a phase ends]' \
  '(-t --text)'{-t,--text}'[kept with it]:text:' '*:label:' ;;
plot) _arguments '--output[picture]:file:_files' '--title:text:' '--account[own account]:file:_files' '*--max[line]:size:' \
  '--size:WxH:' '--live[draw again]' '--ascii' '--no-color' '*:log:_files' ;;
report) _arguments '--json[for machines]' '*:log:_files' ;;
compare) _arguments '--vs[second group]' '--max-increase[percent]:percent:' '--phase:label:' '--json' '*:log:_files' ;;
*) _arguments '(-p --pid)'{-p,--pid}'[a process]:pid:_pids' '--pidfile:file:_files' '(-m --match)'{-m,--match}'[command line]:regex:' \
  '--exe[executable]:file:_files' '--cgroup:path:_files -/' '--unit[systemd]:unit:' '(-n --newest)'{-n,--newest} '(-a --all)'{-a,--all} \
  '(-t --tree)'{-t,--tree}'[children too]' '--until-all' '(-w --wait)'{-w,--wait} '(-f --follow)'{-f,--follow} \
  '(-d --duration)'{-d,--duration}':time:' '(-l --log)'{-l,--log}':file:_files' '--no-log' '--format:form:(jsonl csv)' '--append' \
  '--overwrite' '--segment-size:size:' '--keep-segments:number:' '*--tag:name=value:' '*--env:variable:_parameters' '--plain=-:time:' \
  '(-q --quiet)'{-q,--quiet} '--interval:time:' '--max-interval:time:' '--log-interval:time:' '--pss' '--gpu' '--no-gpu' \
  '--nvml:file:_files' '--fifo:path:_files' '--watch:file:_files' '--pattern:regex:' '--pattern-begin:regex:' '--pattern-end:regex:' \
  '--account:file:_files' '*--max:size:' '*--min-available:size:' '*--exec:command:' '*::command:_normal' ;;
esac
