//! The picture as self-contained SVG.

use garblet_circuit::Program;

use super::{
    layout::{BOX_HEIGHT, Layout},
    picture::{Kind, Picture},
};

const STYLE: &str = "text{font:13px sans-serif;fill:#111827}.note{font-size:11px;fill:#4b5563}\
    .wires{font-size:10px;fill:#6b7280;text-anchor:middle}rect{stroke:#9ca3af}path{fill:none;stroke:#9ca3af;\
    stroke-width:1.5}.input{fill:#dbeafe}.instance{fill:#f3f4f6}.output{fill:#dcfce7}.constant{fill:#fff}";

/// A program as a self-contained SVG drawing; the number on a line is its number of wires.
pub fn svg(program: &Program) -> String {
    let picture = Picture::new(program);
    let layout = Layout::new(&picture);
    let (width, height) = (layout.width, layout.height);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\" stroke=\"none\"/>\n",
        escaped(program.name())
    );
    for (&(from, to), wires) in &picture.edges {
        let (a, b) = (layout.places[from], layout.places[to]);
        let (x1, y1) = (a.x + a.width, a.y + BOX_HEIGHT / 2.0);
        let (x2, y2) = (b.x, b.y + BOX_HEIGHT / 2.0);
        // If one box stands for many instances, a line may lead back; it then bows out above.
        let (bend, rise) = if x2 > x1 { ((x2 - x1) / 2.0, 0.0) } else { (40.0, BOX_HEIGHT * 1.2) };
        text += &format!(
            "<path d=\"M{x1:.1} {y1:.1}C{:.1} {:.1} {:.1} {:.1} {x2:.1} {y2:.1}\"/>\
             <text class=\"wires\" x=\"{:.1}\" y=\"{:.1}\">{wires}</text>\n",
            x1 + bend,
            y1 - rise,
            x2 - bend,
            y2 - rise,
            (x1 + x2) / 2.0,
            (y1 + y2) / 2.0 - rise - 3.0
        );
    }
    for (node, place) in picture.nodes.iter().zip(&layout.places) {
        let class = match node.kind {
            Kind::Input => "input",
            Kind::Constant => "constant",
            Kind::Instance => "instance",
            Kind::Output => "output",
        };
        text += &format!(
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{BOX_HEIGHT}\" rx=\"6\"/>\
             <text x=\"{3:.1}\" y=\"{4:.1}\">{5}</text><text class=\"note\" x=\"{3:.1}\" y=\"{6:.1}\">{7}</text>\n",
            place.x,
            place.y,
            place.width,
            place.x + 12.0,
            place.y + 18.0,
            escaped(&node.title),
            place.y + 35.0,
            escaped(&node.note)
        );
    }
    text + "</svg>\n"
}

fn escaped(text: &str) -> String {
    let escape = |c: char| match c {
        '&' => "&amp;".to_string(),
        '<' => "&lt;".to_string(),
        '>' => "&gt;".to_string(),
        '"' => "&quot;".to_string(),
        // XML allows no control characters.
        c if c.is_control() => " ".to_string(),
        c => c.to_string(),
    };
    text.chars().map(escape).collect()
}
