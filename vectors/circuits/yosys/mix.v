// Some of each: sums, products, comparisons, a choice, a constant. Made into the other files by the commands of make.sh.
module mix(input [2:0] a, input signed [2:0] b, input sel, output [3:0] y, output parity, output [1:0] fixed);
  assign y = sel ? a + $unsigned(b) : (a * $unsigned(b)) ^ {3'b0, a > $unsigned(b)};
  assign parity = ^{a, b, sel};
  assign fixed = 2'b10;
endmodule
