#compdef cuzk
# zsh completion for cuzk
local -a commands circuits
circuits=(porep-2KiB porep-8MiB porep-512MiB porep-32GiB porep-64GiB porep-mini32)
commands=(
  'setup:make a development key for a circuit'
  'prove:prove a sector from its C1 output'
  'verify:verify a proof'
  'inspect:say what a file is, and its first fault'
  'export:export keys, proofs and inputs to snarkjs'
  'shape:counts and digests of a circuit'
  'witness:digests of a sector'\''s witnesses'
  'inputs:public inputs of a statement'
  'mock-sector:make a sector that nobody sealed'
  'devices:list the devices that can prove'
  'version:print the version'
  'help:describe a command'
)
_cuzk_circuit_or_file() {
  compadd -a circuits
  _files
}
if (( CURRENT == 2 )); then
  _describe command commands
  return
fi
words=("${words[@]:1}")
(( CURRENT-- ))
case $words[1] in
setup) _arguments \
  '--out[where the proving key goes]:file:_files' \
  '--vk[where the verifying key goes]:file:_files' \
  '--insecure-waste[take the waste from a file: for tests]:file:_files' \
  '--threads[threads to use]:value:' \
  '--memory[most host memory to use]:value:' \
  '--isa[instruction set path]:path:(portable x86_64-adx)' \
  '--device[where to compute]:device:(auto cpu cuda cuda\:0)' \
  '--json[print JSON]' \
  '--help[describe the command]' \
  ':circuit or file:_cuzk_circuit_or_file' ;;
prove) _arguments \
  '--params[the proving key]:file:_files' \
  '--make-key[or make a development key in memory]:file:_files' \
  '--insecure-waste[take the waste from a file: for tests]:file:_files' \
  '--c1[the C1 output to prove]:file:_files' \
  '--r1cs[or a dump that holds a witness]:file:_files' \
  '--out[where the proof goes]:file:_files' \
  '--circuit[porep-mini32, where the file says 32 GiB]:circuit:compadd -a circuits' \
  '--miner[the miner'\''s actor id]:value:' \
  '--sector[the sector'\''s number]:value:' \
  '--insecure-rs[fixed randomness: for tests]:value:' \
  '--threads[threads to use]:value:' \
  '--memory[most host memory to use]:value:' \
  '--device-memory[most memory of each card to use]:value:' \
  '--isa[instruction set path]:path:(portable x86_64-adx)' \
  '--device[where to prove]:device:(auto cpu cuda cuda\:0 cuda\:all)' \
  '--repeat[prove N times]:value:' \
  '--overlap[proofs beside others]:value:(0 1)' \
  '--json[print JSON]' \
  '--help[describe the command]' ;;
verify) _arguments \
  '--vk[the verifying key]:file:_files' \
  '--proof[the proof]:file:_files' \
  '--c1[the statement of a C1 output]:file:_files' \
  '--statement[a statement]:file:_files' \
  '--public[public inputs of snarkjs]:file:_files' \
  '--r1cs[of a dump'\''s witness]:file:_files' \
  '--circuit[porep-mini32, where the file says 32 GiB]:circuit:compadd -a circuits' \
  '--miner[the miner'\''s actor id]:value:' \
  '--sector[the sector'\''s number]:value:' \
  '--json[print JSON]' \
  '--help[describe the command]' ;;
inspect) _arguments \
  '--full[digest and every point; every hash]' \
  '--circuit[porep-mini32, where the file says 32 GiB]:circuit:compadd -a circuits' \
  '--threads[threads to use]:value:' \
  '--json[print JSON]' \
  '--help[describe the command]' \
  ':circuit or file:_cuzk_circuit_or_file' ;;
export) _arguments \
  '--vk[a verifying key]:file:_files' \
  '--proof[a proof]:file:_files' \
  '--c1[public inputs of a C1 output]:file:_files' \
  '--statement[of a statement]:file:_files' \
  '--r1cs[of a dump'\''s witness]:file:_files' \
  '--circuit[porep-mini32, where the file says 32 GiB]:circuit:compadd -a circuits' \
  '--partition[this partition only]:value:' \
  '--out[an existing folder]:folder:_files -/' \
  '--json[print JSON]' \
  '--help[describe the command]' ;;
shape) _arguments \
  '--chunks[one SHA-256 per 65,536 rows]:file:_files' \
  '--json[print JSON]' \
  '--help[describe the command]' \
  ':circuit or file:_cuzk_circuit_or_file' ;;
witness) _arguments \
  '--c1[the C1 output]:file:_files' \
  '--circuit[porep-mini32, where the file says 32 GiB]:circuit:compadd -a circuits' \
  '--partition[this partition only]:value:' \
  '--chunks[prefix of files of chunk digests]:file:_files' \
  '--threads[threads to use]:value:' \
  '--json[print JSON]' \
  '--help[describe the command]' ;;
inputs) _arguments \
  '--circuit[porep-mini32, where the file says 32 GiB]:circuit:compadd -a circuits' \
  '--partition[this partition only]:value:' \
  '--json[print JSON]' \
  '--help[describe the command]' \
  ':file:_files' ;;
mock-sector) _arguments \
  '--seed[everything follows from it]:value:' \
  '--out[where the C1 output goes]:file:_files' \
  '--statement[where its statement goes]:file:_files' \
  '--json[print JSON]' \
  '--help[describe the command]' \
  ':circuit or file:_cuzk_circuit_or_file' ;;
devices) _arguments \
  '--json[print JSON]' \
  '--help[describe the command]' ;;
version) _arguments \
  '--json[print JSON]' \
  '--help[describe the command]' ;;
help) _describe command commands ;;
esac
