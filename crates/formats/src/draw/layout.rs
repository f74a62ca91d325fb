//! The places of boxes: columns from left to right, and in each column near the boxes that feed them.

use super::picture::{Kind, Picture};

pub(super) const BOX_HEIGHT: f64 = 44.0;
const ROW_GAP: f64 = 18.0;
const COLUMN_GAP: f64 = 90.0;
const MARGIN: f64 = 20.0;
const CHAR_WIDTH: f64 = 7.6;

/// A box's left upper corner and width.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
}

/// Places of all boxes, and the size of the whole.
pub(super) struct Layout {
    pub(super) places: Vec<Place>,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Layout {
    pub(super) fn new(picture: &Picture) -> Self {
        let mut columns = columns(picture);
        let tallest = columns.iter().map(Vec::len).max().unwrap_or(0) as f64;
        let height = tallest * (BOX_HEIGHT + ROW_GAP) - ROW_GAP + 2.0 * MARGIN;
        let mut places = vec![Place::default(); picture.nodes.len()];
        let mut x = MARGIN;
        for column in &mut columns {
            let pull = |at: usize| {
                let feeds = picture.edges.keys().filter(|(from, to)| *to == at && places[*from].width > 0.0);
                let (sum, count) = feeds.fold((0.0, 0u32), |(sum, n), (from, _)| (sum + places[*from].y, n + 1));
                if count == 0 { at as f64 } else { sum / f64::from(count) }
            };
            let mut pulled: Vec<(f64, usize)> = column.iter().map(|&at| (pull(at), at)).collect();
            pulled.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let chars = |at: &usize| {
                let node = &picture.nodes[*at];
                node.title.chars().count().max(node.note.chars().count())
            };
            let width = column.iter().map(chars).max().unwrap_or(0) as f64 * CHAR_WIDTH + 24.0;
            let used = column.len() as f64 * (BOX_HEIGHT + ROW_GAP) - ROW_GAP;
            let mut y = (height - used) / 2.0;
            for (_, at) in pulled {
                places[at] = Place { x, y, width };
                y += BOX_HEIGHT + ROW_GAP;
            }
            x += width + COLUMN_GAP;
        }
        Layout { places, width: (x - COLUMN_GAP + MARGIN).max(2.0 * MARGIN), height: height.max(2.0 * MARGIN) }
    }
}

/// The boxes of each column: boxes that feed a box are to its left, inputs are in the first column, outputs in the last.
fn columns(picture: &Picture) -> Vec<Vec<usize>> {
    let mut column = vec![0usize; picture.nodes.len()];
    for at in 0..picture.nodes.len() {
        let before = picture.edges.keys().filter(|(from, to)| *to == at && *from < at);
        let least = usize::from(matches!(picture.nodes[at].kind, Kind::Instance | Kind::Output));
        column[at] = before.map(|(from, _)| column[*from] + 1).max().unwrap_or(0).max(least);
    }
    let last = column.iter().copied().max().unwrap_or(0);
    let mut columns = vec![Vec::new(); last + 1];
    for (at, node) in picture.nodes.iter().enumerate() {
        columns[if node.kind == Kind::Output { last } else { column[at] }].push(at);
    }
    columns.retain(|column| !column.is_empty());
    columns
}
