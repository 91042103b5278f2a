//! An SVG picture of a function's error over its input, binade by binade, with the allowed error.

use std::fmt::Write;

use super::{Judge, Measured, Subject, reach};

/// The picture's width and height, and the margins around the plot: left, top, right, bottom.
const SIZE: (f64, f64) = (960.0, 440.0);
const MARGINS: (f64, f64, f64, f64) = (76.0, 60.0, 16.0, 56.0);
/// The units in the last place at the lower and the upper edge, as powers of two.
const LEVELS: (i32, i32) = (-6, 24);

/// The column of a binade, from left to right: first the negative binades with the largest
/// magnitudes first, then the positive ones. `binade` is the sign and exponent bits of the
/// first operand.
fn column(binade: usize) -> usize {
    if binade >= 256 { 511 - binade } else { binade + 256 }
}

fn x_of(column: f64) -> f64 {
    MARGINS.0 + column / 512.0 * (SIZE.0 - MARGINS.0 - MARGINS.2)
}

/// Errors are plotted by their logarithms. Values beyond an edge are drawn at the edge.
fn y_of(ulps: f64) -> f64 {
    let level = ulps.log2().clamp(f64::from(LEVELS.0), f64::from(LEVELS.1));
    let part = (level - f64::from(LEVELS.0)) / f64::from(LEVELS.1 - LEVELS.0);
    SIZE.1 - MARGINS.3 - part * (SIZE.1 - MARGINS.1 - MARGINS.3)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The allowed error at an input of one number, in units in the last place. `None` if it is not
/// measured there.
fn bound(judge: &Judge, bits: u32) -> Option<f64> {
    let expected = judge.expected(&[bits]);
    reach(expected.allowed.first()?, *expected.exact.first()?)
}

/// The picture as SVG text.
pub fn plot(subject: &Subject, measured: &Measured) -> String {
    let (width, height) = SIZE;
    let (left, top) = (MARGINS.0, MARGINS.1);
    let (right, bottom) = (width - MARGINS.2, height - MARGINS.3);
    let mut svg = String::new();
    let mut line = |text: String| {
        svg.push_str(&text);
        svg.push('\n');
    };
    line(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">"
    ));
    line(format!("<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>"));
    line(format!(
        "<text x=\"{left}\" y=\"18\" font-size=\"14\">{}: {} inputs, {}</text>",
        measured.function.label(),
        measured.tally.inputs,
        measured.verdict().name()
    ));
    let (device, profile) = (format!("{} ({}), {}", subject.adapter, subject.driver, subject.route), subject.profile_text());
    line(format!("<text x=\"{left}\" y=\"34\" fill=\"#555\">{}</text>", escaped(&device)));
    line(format!("<text x=\"{left}\" y=\"50\" fill=\"#555\">{}</text>", escaped(&profile)));
    for level in (LEVELS.0..=LEVELS.1).step_by(3) {
        let y = y_of(2f64.powi(level));
        let name = if level < 0 { format!("1/{}", 1u32 << -level) } else { (1u32 << level).to_string() };
        line(format!("<line x1=\"{left}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>"));
        line(format!("<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>", left - 6.0, y + 4.0));
    }
    for (binade, name) in [
        (511, "−2¹²⁸"),
        (256 + 191, "−2⁶⁴"),
        (256 + 127, "−1"),
        (256 + 63, "−2⁻⁶⁴"),
        (0, "0"),
        (63, "2⁻⁶⁴"),
        (127, "1"),
        (191, "2⁶⁴"),
        (255, "2¹²⁸"),
    ] {
        let x = x_of(column(binade) as f64);
        line(format!("<line x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{bottom}\" stroke=\"#eee\"/>"));
        line(format!("<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text>", bottom + 16.0));
    }
    let operand = if measured.function.words() == 1 { "input" } else { "first number of the input" };
    let middle = (left + right) / 2.0;
    line(format!("<text x=\"{middle}\" y=\"{:.1}\" text-anchor=\"middle\">{operand}, by binade</text>", bottom + 34.0));
    let across = (top + bottom) / 2.0;
    line(format!("<text x=\"16\" y=\"{across}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {across})\">error in ULP</text>"));
    let is_unary = measured.function.words() == 1 && measured.function.results == 1;
    let judge = Judge::new(&measured.function, measured.profile);
    let mut points = String::new();
    for (binade, errors) in measured.tally.binades.iter().enumerate().filter(|(_, errors)| errors.count > 0) {
        let x = x_of(column(binade) as f64 + 0.5);
        let mean = errors.sum / errors.count as f64;
        if let Some(ulps) = is_unary.then(|| bound(&judge, errors.worst_at)).flatten() {
            let y = y_of(ulps);
            line(format!(
                "<line x1=\"{:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"#393\" stroke-width=\"2\"/>",
                x - 0.8,
                x + 0.8
            ));
        }
        let _ = writeln!(points, "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"1.6\" fill=\"#c22\"/>", y_of(errors.worst));
        let _ = writeln!(points, "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"1.2\" fill=\"#27c\"/>", y_of(mean));
    }
    line(points);
    line(format!(
        "<rect x=\"{left}\" y=\"{top}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"none\" stroke=\"#888\"/>",
        right - left,
        bottom - top
    ));
    for (at, (colour, name)) in [("#393", "allowed at the worst"), ("#c22", "worst"), ("#27c", "mean")].into_iter().enumerate() {
        let x = right - 320.0 + [0.0, 160.0, 240.0][at];
        line(format!("<circle cx=\"{x}\" cy=\"{:.1}\" r=\"4\" fill=\"{colour}\"/>", height - 12.0));
        line(format!("<text x=\"{}\" y=\"{:.1}\">{name}</text>", x + 8.0, height - 8.0));
    }
    line("</svg>".into());
    svg
}

#[cfg(test)]
mod tests {
    use super::{LEVELS, column, y_of};

    #[test]
    fn binades_ascend_from_left_to_right() {
        // -infinity and NaN, -1, -0, +0, 1, +infinity.
        let columns = [511, 256 + 127, 256, 0, 127, 255].map(column);
        assert!(columns.is_sorted(), "{columns:?}");
        assert_eq!((columns[0], columns[5]), (0, 511));
    }

    #[test]
    fn larger_errors_are_higher_up_and_none_leaves_the_picture() {
        assert!(y_of(2.0) < y_of(1.0));
        assert_eq!(y_of(0.0), y_of(2f64.powi(LEVELS.0)));
        assert_eq!(y_of(f64::INFINITY), y_of(2f64.powi(LEVELS.1)));
    }
}
