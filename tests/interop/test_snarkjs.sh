#!/bin/bash
# test_snarkjs.sh CUZK VECTORS WORK: makes keys and proofs with cuzk, exports them, and has snarkjs
# judge them (verify.mjs). snarkjs is installed into WORK from the pinned lock file.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cuzk=$1 vectors=$2 work=$3
mkdir -p "$work"
cp "$here"/{package.json,package-lock.json,.npmrc} "$work"
cd "$work"
if ! cmp -s package-lock.json installed.json; then
    npm ci --no-fund --no-audit --ignore-scripts >npm.log 2>&1 || {
        tail -5 npm.log
        echo "snarkjs could not be installed: npm needs its registry"
        echo "0 passed, 1 failed"
        exit 1
    }
    cp package-lock.json installed.json
fi
rm -rf toy5 toy3000 own v11-101
mkdir toy5 toy3000 own v11-101

# keys of the vectors, random r and s
for c in toy5 toy3000; do
    "$cuzk" prove --params "$vectors/keys/$c.params" --r1cs "$vectors/keys/$c.r1cs.zst" --out $c/p.bin >/dev/null
    "$cuzk" export --vk "$vectors/keys/$c.vk" --proof $c/p.bin --r1cs "$vectors/keys/$c.r1cs.zst" --out $c >/dev/null
done
# a key of our own
"$cuzk" setup "$vectors/keys/toy5.r1cs.zst" --out own/k.params --vk own/k.vk >/dev/null
"$cuzk" prove --params own/k.params --r1cs "$vectors/keys/toy5.r1cs.zst" --out own/p.bin >/dev/null
"$cuzk" export --vk own/k.vk --proof own/p.bin --r1cs "$vectors/keys/toy5.r1cs.zst" --out own >/dev/null
# the real circuit: bellperson's key and proof of a 2 KiB sector, our export
jq -r '.proofs[] | select(.c1 == "v11-101") | .proof' "$vectors/keys/porep-2KiB-dev.json" |
    python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))' >v11-101/p.bin
"$cuzk" export --vk "$vectors/keys/porep-2KiB-dev.vk" --proof v11-101/p.bin \
    --statement "$vectors/sectors/v11-101/meta.json" --out v11-101 >/dev/null
node "$here/verify.mjs" toy5 toy3000 own v11-101
