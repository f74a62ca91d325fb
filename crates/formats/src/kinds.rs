//! The kinds of files that are known from the start.

use crate::{
    Bristol, ProgramFile,
    binary::Binary,
    front_end::{FrontEnd, FrontEnds},
    netlist::{Aby, Aiger, Bench, Blif, Yosys},
};

impl FrontEnds {
    /// Circuit files (Bristol, Bristol Fashion), netlists of other tools, program files, and the binary form.
    pub fn standard() -> Self {
        let list: [Box<dyn FrontEnd>; 8] = [
            Box::new(Binary),
            Box::new(Yosys),
            Box::new(ProgramFile),
            Box::new(Aiger),
            Box::new(Blif),
            Box::new(Bench),
            Box::new(Aby),
            Box::new(Bristol),
        ];
        FrontEnds::of(list.into())
    }
}

impl Default for FrontEnds {
    fn default() -> Self {
        FrontEnds::standard()
    }
}
