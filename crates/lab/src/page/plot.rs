//! Plots as SVG that needs nothing else: for a page, whose colours follow it, and alone, light or dark.
//!
//! `plotters` draws. Of the libraries for this it is the most used, its SVG part depends on two small crates and no fonts, and it tells where
//! a point has come to lie, which is needed for values under the pointer. Colours stand in its output as marks that are replaced
//! here, so that one drawing serves light and dark. Axes are given to it as logarithms where they are logarithmic: then both kinds, and axes of
//! names, are of one type.

use std::fmt::Write;

use plotters::{coord::Shift, prelude::*};

use super::{Unit, scale::Scale};

/// A plot.
#[derive(Clone)]
pub(crate) struct Plot {
    /// The experiment that it shows.
    pub(crate) experiment: String,
    /// The name of its element.
    pub(crate) id: String,
    pub(crate) title: String,
    /// The point of it, in words.
    pub(crate) about: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

/// An axis.
#[derive(Clone)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) kind: Kind,
}

/// The values of an axis.
#[derive(Clone)]
pub(crate) enum Kind {
    /// From nothing, or in powers of ten.
    Number { unit: Unit, logarithmic: bool },
    /// Names, whose numbers are the values.
    Names(Vec<String>),
}

/// Points of one kind. Of one colour and shape are the published ones and ours of the same thing.
#[derive(Clone)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) published: bool,
    /// The number of colour and shape.
    pub(crate) look: usize,
    pub(crate) points: Vec<(f64, f64)>,
}

/// The ground on which a plot stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ground {
    /// A page, whose style sheet has the colours.
    Page,
    Light,
    Dark,
}

const WIDTH: u32 = 720;
const PLOT_HEIGHT: u32 = 340;
const LINE_HEIGHT: u32 = 24;
/// The mark of lines with dashes, of which the library would make an element each.
const DASHED_WIDTH: u32 = 3;
const FONT: (&str, i32) = ("sans-serif", 15);
/// The width of a letter, about, for legends that go over several lines.
const LETTER: u32 = 8;

/// Colours that people see apart who are blind to some (Okabe and Ito), by mark, variable of pages, on light and on dark ground. The first two
/// are ink and grid.
const COLOURS: [(RGBColor, &str, &str, &str); 8] = [
    (RGBColor(1, 2, 1), "--ink", "#1f2328", "#e6edf3"),
    (RGBColor(1, 2, 2), "--grid", "#d0d7de", "#3d444d"),
    (RGBColor(1, 2, 3), "--s0", "#0072b2", "#56b4e9"),
    (RGBColor(1, 2, 4), "--s1", "#d55e00", "#e69f00"),
    (RGBColor(1, 2, 5), "--s2", "#007a5a", "#19c598"),
    (RGBColor(1, 2, 6), "--s3", "#a6507f", "#e29abf"),
    (RGBColor(1, 2, 7), "--s4", "#4d4d4d", "#f0e442"),
    (RGBColor(1, 2, 8), "--s5", "#8a6d00", "#ff8c5a"),
];
const INK: RGBColor = COLOURS[0].0;
const GRID: RGBColor = COLOURS[1].0;

/// The colours of plots as variables of a style sheet.
pub(super) fn variables(dark: bool) -> String {
    COLOURS.iter().map(|(_, name, light, night)| format!("{name}:{};", if dark { night } else { light })).collect()
}

/// The place of a point in the picture, and what it is.
type Place = (i32, i32, String);

fn colour(look: usize) -> RGBColor {
    let own = &COLOURS[2..];
    own[look % own.len()].0
}

impl Plot {
    /// Tells whether there is anything to compare: two points.
    pub(crate) fn is_worth_it(&self) -> bool {
        self.series.iter().map(|series| series.points.len()).sum::<usize>() > 1
    }

    /// All values in words, for readers who do not see the plot.
    pub(crate) fn in_words(&self) -> String {
        let point = |&(x, y): &(f64, f64)| format!("{} {}", self.x.text(x), self.y.text(y));
        let of = |series: &Series| {
            let points: Vec<String> = series.points.iter().map(point).collect();
            format!("{}: {}.", series.label(), points.join("; "))
        };
        let series: Vec<String> = self.series.iter().map(of).collect();
        format!("{} {} over {}. {}", self.about, self.y.label, self.x.label, series.join(" "))
    }

    /// The plot as an SVG element.
    pub(crate) fn svg(&self, ground: Ground) -> String {
        let mut drawn = String::new();
        let height = PLOT_HEIGHT + LINE_HEIGHT * self.legend_lines().len() as u32;
        let places = self.draw(&mut drawn, height).unwrap_or_default();
        let inside = drawn.split_once(">\n").map_or("", |(_, rest)| rest).replace("</svg>", "");
        let id = &self.id;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">\
             <title id=\"{id}-title\">{}</title><desc id=\"{id}-desc\">{}</desc>\n",
            escaped(&self.title),
            escaped(&self.in_words())
        );
        if let Some(paper) = ground.paper() {
            let _ = writeln!(svg, "<rect width=\"100%\" height=\"100%\" fill=\"{paper}\"/>");
        }
        svg += &coloured(inside.trim(), ground);
        if ground == Ground::Page {
            svg += &places.iter().map(|(x, y, words)| hit(*x, *y, words)).collect::<String>();
        }
        svg + "</svg>\n"
    }

    /// Draws, and returns where each point lies and what it is.
    fn draw(&self, into: &mut String, height: u32) -> Result<Vec<Place>, Box<dyn std::error::Error>> {
        let root = SVGBackend::with_string(into, (WIDTH, height)).into_drawing_area();
        let (upper, lower) = root.split_vertically(PLOT_HEIGHT);
        let values = |of: fn(&(f64, f64)) -> f64| self.series.iter().flat_map(move |s| s.points.iter().map(of));
        let [x, y] = [Scale::of(&self.x.kind, values(|p| p.0), true), Scale::of(&self.y.kind, values(|p| p.1), false)];
        let mut chart = ChartBuilder::on(&upper)
            .margin(8)
            .margin_right(40)
            .x_label_area_size(46)
            .y_label_area_size(104)
            .build_cartesian_2d(x.clone(), y.clone())?;
        let style = FONT.into_font().color(&INK);
        chart
            .configure_mesh()
            .x_labels(x.marks().len())
            .y_labels(y.marks().len())
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(INK)
            .label_style(style.clone())
            .axis_desc_style(style.clone())
            .x_label_formatter(&|value| self.x.text(x.value(*value)))
            .y_label_formatter(&|value| self.y.text(y.value(*value)))
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .draw()?;
        let mut places = Vec::new();
        for series in &self.series {
            let points: Vec<(f64, f64)> = series.points.iter().map(|&(a, b)| (x.place(a), y.place(b))).collect();
            if !matches!(self.x.kind, Kind::Names(_)) {
                series.line(&mut chart, &points)?;
            }
            for (place, value) in points.iter().zip(&series.points) {
                let at = chart.backend_coord(place);
                mark(&upper, at, series)?;
                places.push((
                    at.0,
                    at.1,
                    format!("{}: {}, {}", series.label(), self.x.text(value.0), self.y.text(value.1)),
                ));
            }
        }
        self.legend(&lower, &style)?;
        root.present()?;
        drop((chart, upper, lower, root));
        Ok(places)
    }

    /// The series of each line of the legend.
    fn legend_lines(&self) -> Vec<Vec<&Series>> {
        let mut lines: Vec<Vec<&Series>> = Vec::new();
        let mut left = 0;
        for series in &self.series {
            let width = series.legend_width();
            if width > left {
                lines.push(Vec::new());
                left = WIDTH - 30;
            }
            left -= width.min(left);
            lines.last_mut().into_iter().for_each(|line| line.push(series));
        }
        lines
    }

    fn legend<D: DrawingBackend>(
        &self,
        area: &DrawingArea<D, Shift>,
        style: &TextStyle<'_>,
    ) -> Result<(), DrawingAreaErrorKind<D::ErrorType>> {
        for (line, series) in self.legend_lines().into_iter().enumerate() {
            let (mut x, y) = (30, (line as i32) * LINE_HEIGHT as i32 + 8);
            for series in series {
                mark(area, (x, y), series)?;
                area.draw(&Text::new(series.label(), (x + 12, y - 7), style.clone()))?;
                x += series.legend_width() as i32;
            }
        }
        Ok(())
    }
}

impl Series {
    /// The name, and whose it is.
    fn label(&self) -> String {
        let whose = if self.published { "published" } else { "ours" };
        if self.name.is_empty() { whose.into() } else { format!("{}, {whose}", self.name) }
    }

    fn legend_width(&self) -> u32 {
        self.label().chars().count() as u32 * LETTER + 30
    }

    fn line<D: DrawingBackend>(
        &self,
        chart: &mut ChartContext<'_, D, Cartesian2d<Scale, Scale>>,
        points: &[(f64, f64)],
    ) -> Result<(), DrawingAreaErrorKind<D::ErrorType>> {
        let width = if self.published { DASHED_WIDTH } else { 2 };
        let style = ShapeStyle::from(&colour(self.look)).stroke_width(width);
        chart.draw_series(LineSeries::new(points.iter().copied(), style)).map(drop)
    }
}

/// Draws a point: its shape says what it is, as its colour does. Published ones are hollow.
fn mark<D: DrawingBackend>(
    area: &DrawingArea<D, Shift>,
    (x, y): (i32, i32),
    series: &Series,
) -> Result<(), DrawingAreaErrorKind<D::ErrorType>> {
    let corners: &[(i32, i32)] = match series.look % 5 {
        0 => &[(-2, -5), (2, -5), (5, -2), (5, 2), (2, 5), (-2, 5), (-5, 2), (-5, -2)],
        1 => &[(-5, -5), (5, -5), (5, 5), (-5, 5)],
        2 => &[(0, -6), (6, 5), (-6, 5)],
        3 => &[(0, -7), (6, 0), (0, 7), (-6, 0)],
        _ => &[(-6, -5), (6, -5), (0, 6)],
    };
    let mut around: Vec<(i32, i32)> = corners.iter().map(|(a, b)| (x + a, y + b)).collect();
    let colour = colour(series.look);
    if series.published {
        around.extend_from_within(..1);
        return area.draw(&PathElement::new(around, ShapeStyle::from(&colour).stroke_width(2)));
    }
    area.draw(&Polygon::new(around, colour.filled()))
}

impl Axis {
    /// An axis of numbers.
    pub(crate) fn number(label: &str, unit: Unit, logarithmic: bool) -> Self {
        Axis { label: label.into(), kind: Kind::Number { unit, logarithmic } }
    }

    fn text(&self, value: f64) -> String {
        match &self.kind {
            Kind::Number { unit, .. } => unit.text(value),
            Kind::Names(names) => names.get(value.round() as usize).cloned().unwrap_or_default(),
        }
    }
}

impl Ground {
    /// A drawing whose colours are the variables of a page, for this ground.
    pub(super) fn coloured(self, drawn: &str) -> String {
        let replaced = |text: String, (_, name, light, dark): &(RGBColor, &str, &str, &str)| match self {
            Ground::Page => text,
            Ground::Light => text.replace(&format!("var({name})"), light),
            Ground::Dark => text.replace(&format!("var({name})"), dark),
        };
        COLOURS.iter().fold(drawn.to_string(), replaced)
    }

    /// The colour behind the plot; none on a page, which has one.
    pub(super) fn paper(self) -> Option<&'static str> {
        match self {
            Ground::Page => None,
            Ground::Light => Some("#ffffff"),
            Ground::Dark => Some("#0d1117"),
        }
    }
}

/// The marks replaced by colours.
fn coloured(drawn: &str, ground: Ground) -> String {
    let replaced = |text: String, (mark, name, ..): &(RGBColor, &str, &str, &str)| {
        text.replace(&format!("\"#{:02X}{:02X}{:02X}\"", mark.0, mark.1, mark.2), &format!("\"var({name})\""))
    };
    let dashed = format!("stroke-width=\"{DASHED_WIDTH}\"");
    let drawn = drawn.replace(&dashed, "stroke-width=\"2\" stroke-dasharray=\"5 4\"");
    ground.coloured(&COLOURS.iter().fold(drawn, replaced))
}

/// An area around a point that has its values under the pointer.
fn hit(x: i32, y: i32, words: &str) -> String {
    format!(
        "<circle class=\"hit\" cx=\"{x}\" cy=\"{y}\" r=\"10\" fill=\"transparent\"><title>{}</title></circle>\n",
        escaped(words)
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
