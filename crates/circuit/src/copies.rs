//! Copies of a program side by side.

use crate::{CircuitError, InputId, InstanceId, Link, Port, Program, Source};

impl Program {
    /// Places several copies of the program side by side, each with its own inputs and outputs: a port `x` becomes `x0`, `x1` and so on.
    ///
    /// *Errors*: clashing names, or too many inputs, instances or links.
    pub fn copies(&self, count: u32) -> Result<Program, CircuitError> {
        let mut all = Program::new(format!("{count} copies of {}", self.name()));
        self.components().iter().for_each(|component| {
            all.add_component(component.clone());
        });
        for copy in 0..count {
            let named = |port: &Port| Port::new(format!("{}{copy}", port.name), port.ty.clone());
            let [inputs, instances] = [self.inputs().len(), self.instance_count()].map(|each| each as u32 * copy);
            let moved = |link: &Link| {
                let source = match link.source {
                    Source::Constant(value) => Source::Constant(value),
                    Source::Input(InputId(id)) => Source::Input(InputId(inputs + id)),
                    Source::Instance(InstanceId(id)) => Source::Instance(InstanceId(instances + id)),
                };
                Link { source, ..*link }
            };
            for input in self.inputs() {
                all.add_input(named(&input.port), input.owner)?;
            }
            for instance in (0..self.instance_count() as u32).map(InstanceId) {
                let links: Vec<Link> = self.instance_links(instance).map(|link| moved(&link)).collect();
                all.add_instance(self.component_id(instance), &links)?;
            }
            for output in self.outputs() {
                let links = output.links.iter().map(moved).collect();
                all.add_output(named(&output.port), output.recipients.clone(), links)?;
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng, rngs::StdRng};

    use crate::{evaluate, random};

    #[test]
    fn copies_compute_what_each_does() {
        let mut rng = StdRng::seed_from_u64(5);
        for _ in 0..20 {
            let one = random::program(&mut rng, 200, 2);
            let three = one.copies(3).expect("three of it");
            let values: Vec<_> = (0..3).map(|_| random::inputs(&mut rng, &one)).collect();
            let expected: Vec<_> = values.iter().flat_map(|values| evaluate(&one, values)).collect();
            assert_eq!(evaluate(&three, &values.concat()), expected);
            assert_eq!(three.stats().and, 3 * one.stats().and);
        }
        assert_eq!(random::program(&mut rng, 9, 2).copies(0).expect("none of it").inputs().len(), 0);
    }
}
