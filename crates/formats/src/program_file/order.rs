//! An order of nodes in which each comes after the nodes that it needs.

/// Orders nodes `0..needs.len()` so that each comes after `needs[node]`, as near to their own order as possible.
///
/// *Errors*: a cycle, as nodes each of which needs the next, and the last the first.
pub(super) fn order(needs: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut state = vec![State::New; needs.len()];
    let mut sorted = Vec::with_capacity(needs.len());
    // Nodes on the path from a start, each with the number of its needs that are done.
    let mut path: Vec<(usize, usize)> = Vec::new();
    for start in 0..needs.len() {
        if state[start] == State::New {
            state[start] = State::Open;
            path.push((start, 0));
        }
        while let Some((node, seen)) = path.last_mut() {
            let Some(&need) = needs[*node].get(*seen) else {
                state[*node] = State::Done;
                sorted.push(*node);
                path.pop();
                continue;
            };
            *seen += 1;
            match state[need] {
                State::Done => (),
                State::New => {
                    state[need] = State::Open;
                    path.push((need, 0));
                }
                State::Open => {
                    let begin = path.iter().position(|(node, _)| *node == need).unwrap_or(0);
                    return Err(path[begin..].iter().map(|(node, _)| *node).collect());
                }
            }
        }
    }
    Ok(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_come_after_their_needs() {
        assert_eq!(order(&[vec![], vec![0], vec![0, 1]]), Ok(vec![0, 1, 2]));
        assert_eq!(order(&[vec![2, 1], vec![2], vec![]]), Ok(vec![2, 1, 0]));
        let chain: Vec<Vec<usize>> = (0..100_000).map(|i| if i < 99_999 { vec![i + 1] } else { vec![] }).collect();
        assert_eq!(order(&chain).unwrap()[0], 99_999);
    }

    #[test]
    fn cycles_are_found_without_what_leads_to_them() {
        assert_eq!(order(&[vec![0]]), Err(vec![0]));
        assert_eq!(order(&[vec![1], vec![2], vec![3], vec![1]]), Err(vec![1, 2, 3]));
    }
}
