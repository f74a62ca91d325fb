// A sealed bid against a reserve: is it high enough, and by how much?
module auction(input [7:0] bid, input [7:0] reserve, output sold, output [7:0] above);
  assign sold = bid >= reserve;
  assign above = sold ? bid - reserve : 8'd0;
endmodule
