//! The order of sending circuits: a few at a time, side by side, part by part.
//!
//! So all cores have work even for large circuits, and neither party holds more than a few parts.

/// The number of circuits sent side by side.
const LANES: usize = 4;

/// The groups of circuits, in order.
pub fn groups(circuits: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..circuits).step_by(LANES).map(move |first| first..(first + LANES).min(circuits))
}

/// The parts of all circuits in the order of sending: circuit and part.
pub fn order(circuits: usize, parts: usize) -> impl Iterator<Item = (usize, usize)> {
    groups(circuits)
        .flat_map(move |group| (0..parts).flat_map(move |part| group.clone().map(move |circuit| (circuit, part))))
}

/// The one of `workers` threads that works on a circuit.
pub fn worker_of(circuit: usize, workers: usize) -> usize {
    circuit % LANES % workers
}

/// The circuits of a group that one of `workers` threads works on.
pub(crate) fn of_worker(group: std::ops::Range<usize>, worker: usize, workers: usize) -> impl Iterator<Item = usize> {
    group.filter(move |&circuit| worker_of(circuit, workers) == worker)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_occurs_once_and_parts_of_a_circuit_are_in_order() {
        for (circuits, parts) in [(1, 1), (3, 2), (4, 3), (9, 2)] {
            let all: Vec<_> = order(circuits, parts).collect();
            assert_eq!(all.len(), circuits * parts);
            for circuit in 0..circuits {
                let own: Vec<usize> = all.iter().filter(|(c, _)| *c == circuit).map(|(_, part)| *part).collect();
                assert_eq!(own, (0..parts).collect::<Vec<_>>());
            }
        }
        assert_eq!(order(6, 2).take(5).collect::<Vec<_>>(), [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1)]);
    }

    #[test]
    fn every_circuit_has_one_worker() {
        for workers in 1..6 {
            for group in groups(10) {
                let mut all: Vec<usize> = (0..workers).flat_map(|w| of_worker(group.clone(), w, workers)).collect();
                all.sort_unstable();
                assert_eq!(all, group.collect::<Vec<_>>());
            }
        }
    }
}
