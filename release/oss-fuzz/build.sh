#!/bin/bash -eu
# Run by OSS-Fuzz in its own image, with the sources in $SRC/lowdim: a program and its first inputs for each target in $OUT.
cd "$SRC/lowdim"
# Without compiled kernels: what compiled code reads is decided by Python, which is what is measured.
HATCH_BUILD_NO_HOOKS=true pip3 install ".[h5ad,zarr]"
for name in $(python3 release/oss-fuzz/fuzzer.py names); do
  program="fuzz_${name//-/_}"
  printf 'from fuzzer import fuzz\n\nfuzz("%s")\n' "$name" > "release/oss-fuzz/$program.py"
  compile_python_fuzzer "release/oss-fuzz/$program.py" --paths release/oss-fuzz --paths . \
    --collect-all lowdim --collect-submodules torture.fuzzing --copy-metadata lowdim
  rm -rf seeds
  python3 release/oss-fuzz/fuzzer.py seeds "$name" seeds
  (cd seeds && zip -q "$OUT/${program}_seed_corpus.zip" ./*)
done
