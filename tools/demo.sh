#!/bin/bash
# demo.sh BUILD-DIR: a development key for the 2 KiB circuit, a proof of the bundled sector (sealed by
# Filecoin's own Rust code), its verification, and the memory that proving took, watched from outside by
# rssmon. Everything it makes is in build/demo. The first run makes the key (some minutes, 1.1 GB); later
# ones use it again.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 out=build/demo
cuzk=$build/programs/cuzk/cuzk rssmon=$build/programs/rssmon/rssmon
sector=tests/vectors/sectors/v11-101
key=$out/porep-2KiB.params vk=$out/porep-2KiB.vk
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
show() { printf '$ %s\n' "$*"; "$@"; }

mkdir -p "$out"
device=$("$cuzk" devices --json | jq -r '[.devices[].name] | (map(select(startswith("cuda"))) + .)[0]')
say "1. A development key for the 2 KiB circuit"
if [ -f "$key" ] && [ -f "$vk" ]; then
    echo "$key is there from an earlier run (remove it to make another)"
else
    show "$cuzk" setup porep-2KiB --out "$key" --vk "$vk" --device "$device"
fi

say "2. A proof of the bundled sector, on $device"
rm -f "$out"/prove.log*
zstd -dqf "$sector/c1.json.zst" -o "$out/c1.json"
miner=$(jq -r .actor_id "$sector/meta.json") number=$(jq -r .sector_number "$sector/meta.json")
show "$rssmon" record --quiet --log "$out/prove.log" --tag demo=porep-2KiB -- \
    "$cuzk" prove --params "$key" --c1 "$out/c1.json" --out "$out/proof.bin" --miner "$miner" --sector "$number" \
    --device "$device"

say "3. Verified by the verifying key and the statement alone"
show "$cuzk" verify --vk "$vk" --proof "$out/proof.bin" --statement "$sector/meta.json" --miner "$miner" --sector "$number"

say "4. The proof's memory, as the kernel saw it"
"$rssmon" report "$out/prove.log"
echo
"$rssmon" plot "$out/prove.log" --size 100x16
"$rssmon" plot "$out/prove.log" --title "cuzk prove, 2 KiB sector" --output "$out/memory.png"
"$rssmon" plot "$out/prove.log" --title "cuzk prove, 2 KiB sector" --output "$out/memory.svg"
say "The picture is $out/memory.png, the proof $out/proof.bin, the log $out/prove.log."
