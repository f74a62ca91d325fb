//! A plot of the time of an instance over their number, as SVG that needs nothing else.

use super::Row;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
/// The frame around the lines.
const LEFT: f64 = 76.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 48.0;
const COLOURS: [&str; 4] = ["#2563eb", "#dc2626", "#059669", "#7c3aed"];
const STYLE: &str = "text{font:12px sans-serif;fill:#374151}.grid{stroke:#e5e7eb}path{fill:none;stroke-width:2}";

/// The plot: instances to the right, each line ten times as many as the one before, nanoseconds each upwards.
pub(super) fn svg(rows: &[Row]) -> String {
    let axes = Axes::of(rows);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\">\n\
         <title>Time to compile an instance</title>\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}",
        axes.lines()
    );
    let mut sources: Vec<&str> = rows.iter().map(|row| row.source.as_str()).collect();
    sources.dedup();
    for ((k, source), colour) in sources.iter().enumerate().zip(COLOURS.iter().cycle()) {
        let own = rows.iter().filter(|row| row.source == *source);
        let points: Vec<(f64, f64)> =
            own.filter_map(|row| Some((axes.x(logarithm(row)), axes.y(row.nanoseconds_per_instance?)))).collect();
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        text += &format!("<path stroke=\"{colour}\" d=\"M{}\"/>\n", path.join("L"));
        for (x, y) in &points {
            text += &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>\n");
        }
        let place = LEFT + 14.0 + 130.0 * k as f64;
        text += &format!(
            "<circle cx=\"{place:.0}\" cy=\"{0:.0}\" r=\"3.5\" fill=\"{colour}\"/>\
             <text x=\"{1:.0}\" y=\"{2:.0}\">{source}</text>\n",
            HEIGHT - 12.0,
            place + 8.0,
            HEIGHT - 8.0
        );
    }
    text + "</svg>\n"
}

fn logarithm(row: &Row) -> f64 {
    (row.instances.max(1) as f64).log10()
}

/// The ranges of the axes.
struct Axes {
    /// Powers of ten.
    first: f64,
    last: f64,
    /// Nanoseconds.
    top: f64,
    step: f64,
}

impl Axes {
    fn of(rows: &[Row]) -> Self {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.nanoseconds_per_instance.is_some()).collect();
        let logarithm = |row: &&Row| logarithm(row);
        let last = rows.iter().map(logarithm).fold(0.0, f64::max).ceil();
        let first = rows.iter().map(logarithm).fold(last, f64::min).floor();
        let highest = rows.iter().filter_map(|row| row.nanoseconds_per_instance).fold(1.0, f64::max);
        let step = step(highest);
        Axes { first, last: last.max(first + 1.0), top: (highest / step).ceil() * step, step }
    }

    fn x(&self, power: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * (power - self.first) / (self.last - self.first)
    }

    fn y(&self, time: f64) -> f64 {
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * time / self.top
    }

    /// The grid, with its numbers.
    fn lines(&self) -> String {
        let mut text = String::new();
        for line in 0..=(self.top / self.step).round() as u32 {
            let time = f64::from(line) * self.step;
            text += &format!(
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{1:.1}\" y2=\"{1:.1}\"/>\
                 <text x=\"{2:.0}\" y=\"{3:.1}\" text-anchor=\"end\">{time:.0} ns</text>\n",
                WIDTH - RIGHT,
                self.y(time),
                LEFT - 8.0,
                self.y(time) + 4.0
            );
        }
        for power in self.first as i32..=self.last as i32 {
            let (at, end) = (self.x(power.into()), HEIGHT - BOTTOM);
            text += &format!(
                "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{end:.0}\"/>\
                 <text x=\"{at:.1}\" y=\"{:.0}\" text-anchor=\"middle\">10<tspan dy=\"-5\" font-size=\"9\">{power}\
                 </tspan></text>\n",
                end + 18.0
            );
        }
        text + &format!(
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">instances</text>\n",
            WIDTH - RIGHT,
            HEIGHT - 8.0
        )
    }
}

/// The distance of lines: 1, 2 or 5 times a power of ten, so that there are at most six.
fn step(highest: f64) -> f64 {
    let power = 10f64.powf((highest / 6.0).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|times| times * power)
        .find(|step| highest / step <= 6.0)
        .unwrap_or(power * 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_source_has_a_line_through_its_points() {
        let row = |source: &str, instances: u64, each: f64| Row {
            source: source.into(),
            size: 1,
            instances,
            components: 1,
            and: 1,
            seconds: 1.0,
            peak_rss_bytes: None,
            nanoseconds_per_instance: Some(each),
        };
        let rows = [row("one", 1_000, 100.0), row("one", 100_000, 200.0), row("two", 10_000, 100.0)];
        let text = svg(&rows);
        assert_eq!((text.matches("<path").count(), text.matches("<circle").count()), (2, 3 + 2));
        assert!(text.contains(">one</text>") && text.contains(">200 ns</text>"), "{text}");
        assert!(!text.contains("NaN") && !svg(&[]).contains("NaN"));
    }

    #[test]
    fn lines_are_at_round_numbers() {
        assert_eq!([step(200.0), step(7.0), step(600.0), step(601.0)], [50.0, 2.0, 100.0, 200.0]);
    }
}
