//! Many evaluations of a program as one program.

use crate::{CircuitError, Input, InputId, InstanceId, Link, Port, Program, Source, Type, notes::Notes};

impl Program {
    /// Repeats the program for many rows: an input or output `x: T` becomes `x: [T; rows]`. The output that reports a failed check
    /// becomes an array too.
    ///
    /// *Shape*: all instances of the first row come first, then all of the second, so a run holds the wires of one row at a time,
    /// beside inputs and outputs.
    ///
    /// *Errors*: too many wires, instances or links.
    pub fn batch(&self, rows: u32) -> Result<Program, CircuitError> {
        let mut all = Program::new(self.name());
        self.components().iter().for_each(|component| {
            all.add_component(component.clone());
        });
        let many = |port: &Port| -> Result<Port, CircuitError> {
            let ty = Type::Array(Box::new(port.ty.clone()), rows);
            match u32::try_from(ty.width()) {
                Ok(_) => Ok(Port::new(port.name.clone(), ty)),
                Err(_) => Err(CircuitError::TooManyWires { wires: ty.width(), limit: u32::MAX.into() }),
            }
        };
        for Input { port, owner } in self.inputs() {
            all.add_input(many(port)?, *owner)?;
        }
        let widths: Vec<u32> = self.inputs().iter().map(|input| input.port.width()).collect();
        let instances = self.instance_count() as u32;
        let moved = |link: &Link, row: u32| match link.source {
            Source::Constant(_) => *link,
            Source::Input(InputId(id)) => Link { start: row * widths[id as usize] + link.start, ..*link },
            Source::Instance(InstanceId(id)) => {
                Link { source: Source::Instance(InstanceId(row * instances + id)), ..*link }
            }
        };
        for row in 0..rows {
            for instance in (0..instances).map(InstanceId) {
                let links: Vec<Link> = self.instance_links(instance).map(|link| moved(&link, row)).collect();
                all.add_instance(self.component_id(instance), &links)?;
            }
        }
        for output in self.outputs() {
            let links = (0..rows).flat_map(|row| output.links.iter().map(move |link| (link, row)));
            let links = links.map(|(link, row)| moved(link, row)).collect();
            all.add_output(many(&output.port)?, output.recipients.clone(), links)?;
        }
        // Notes of loops describe one row, so they do not apply here.
        let file = self.notes().file.map(|file| file.of_rows(rows));
        all.set_notes(Notes { rows: Some(rows), regions: Vec::new(), file, ..self.notes().clone() });
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use super::*;
    use crate::{Bits, Circuit, Component, Gate, Party, Wire, evaluate, random};

    #[test]
    fn a_batch_computes_what_each_row_does() {
        let rng = &mut StdRng::seed_from_u64(22);
        for _ in 0..60 {
            let one = random::program(rng, 200, 2);
            let rows = rng.random_range(0..5);
            let batch = one.batch(rows).expect("so many of it");
            let values: Vec<Vec<Bits>> = (0..rows).map(|_| random::inputs(rng, &one)).collect();
            let columns = |rows: &[Vec<Bits>], count: usize| -> Vec<Bits> {
                (0..count).map(|k| rows.iter().flat_map(|row| row[k].iter()).collect()).collect()
            };
            let each: Vec<Vec<Bits>> = values.iter().map(|values| evaluate(&one, values)).collect();
            let outputs = evaluate(&batch, &columns(&values, one.inputs().len()));
            assert_eq!(outputs, columns(&each, one.outputs().len()));
            assert_eq!(batch.counts().and, u64::from(rows) * one.counts().and);
            assert_eq!(batch.stats().and_depth, if rows == 0 { 0 } else { one.stats().and_depth });
            assert_eq!(batch.notes().rows, Some(rows));
        }
    }

    #[test]
    fn rows_are_a_part_that_parties_agree_on() {
        let one = random::program(&mut StdRng::seed_from_u64(3), 50, 2);
        let differing = |a: &Program, b: &Program| -> Vec<String> {
            let parts = a.parts().into_iter().zip(b.parts()).filter(|(a, b)| a != b);
            parts.map(|((name, _), _)| name).collect()
        };
        let (two, three) = (one.batch(2).expect("two"), one.batch(3).expect("three"));
        assert_eq!(differing(&two, &three)[0], "rows");
        assert!(two.digest() != three.digest());
        assert!(one.batch(1).expect("one").parts().contains(&("rows".into(), "1".into())));
    }

    #[test]
    fn more_wires_than_can_be_numbered_are_refused() {
        let circuit = Circuit::new(1 << 20, vec![Gate::Not(Wire(0))], vec![Wire(1 << 20)]).expect("in order");
        let (input, output) = (Port::new("in", Type::Bits(1 << 20)), Port::new("out", Type::Bool));
        let component = Component::new("wide", vec![input], vec![output], circuit).expect("fits");
        let one = Program::from_component(component, &[Party(0)]).expect("fits");
        assert!(one.batch(100).is_ok());
        assert!(matches!(one.batch(1 << 12), Err(CircuitError::TooManyWires { wires: 4_294_967_296, .. })));
    }
}
