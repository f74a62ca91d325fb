#!/bin/sh
# Makes netlists of mix.v with Yosys and ABC, in every format that they write, and the table of its values.
set -e
yosys -q -p 'read_verilog mix.v; synth -flatten; opt_clean -purge; write_json mix.json'
yosys -q -p 'read_verilog mix.v; synth -flatten; abc -g AND,XOR; opt_clean -purge; write_blif mix.blif'
yosys -q -p 'read_verilog mix.v; synth -flatten; aigmap; write_aiger -symbols mix.aig; write_aiger -ascii -symbols mix.aag'
yosys-abc -q 'read mix.aig; strash; write_bench mix.bench; if -K 6; write_bench mix-lut.bench; write_blif mix-lut.blif'
yosys -q -p 'read_verilog mix.v; prep; tee -q -o mix.txt eval -table a,b,sel -show y,parity,fixed'
sed -i -n "s/^ *3'\([01]*\) 3'\([01]*\) *1'\([01]\) | *2'\([01]*\) *1'\([01]\) 4'\([01]*\)/\1 \2 \3 \4 \5 \6/p" mix.txt
sed -i '1i a b sel, then fixed parity y' mix.txt
