//! The composition of a program: its size, and how often it uses each feature. It is drawn anew for
//! each program, so a campaign has programs full of loops, programs full of matrices, and programs
//! of sums only.

use crate::random::Random;

/// The bounds for the programs of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The smallest target size, in nodes.
    pub smallest: u32,
    /// The mean target size, in nodes.
    pub mean: u32,
    /// The largest target size, in nodes. A program may be a few nodes larger.
    pub largest: u32,
    /// The percentage of programs that may use special numbers, and builtins whose result no
    /// specification fixes (such as sin), in places where the result is observed. In the other
    /// programs these stand only where they cannot be observed.
    pub rough_percent: u32,
    /// The percentage of programs whose numbers are all of [`Numbers::Grid`].
    pub grid_percent: u32,
    /// Some functions have bounded results only on a part of the floats. This is the percentage of
    /// their uses that map the operands into that part.
    pub tame_percent: u32,
    /// The number of programs, per thousand, with a loop that diverges at some pixels.
    pub divergent_permille: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { smallest: 5, mean: 40, largest: 150, rough_percent: 11, grid_percent: 70, tame_percent: 0, divergent_permille: 12 }
    }
}

/// How far the programs of a campaign keep to operations that all devices must compute alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// Most programs keep to them, some do not.
    #[default]
    Mixed,
    /// Numbers that are exactly represented, and operations whose result is fixed. Nearly every
    /// lane has one answer.
    Decided,
    /// Any builtin and any number in places that are observed. Most lanes have a set of answers.
    Rough,
}

impl Mode {
    /// Every mode with its name.
    pub const ALL: [(&'static str, Mode); 3] = [("mixed", Mode::Mixed), ("decided", Mode::Decided), ("rough", Mode::Rough)];

    /// The limits of the mode's programs.
    pub fn limits(self) -> Limits {
        match self {
            Mode::Mixed => Limits::default(),
            Mode::Decided => Limits { rough_percent: 0, grid_percent: 100, ..Limits::default() },
            Mode::Rough => Limits { rough_percent: 100, grid_percent: 0, tame_percent: 50, ..Limits::default() },
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Mode::ALL.iter().find(|(_, mode)| *mode == self).map_or("mixed", |(name, _)| name)
    }
}

/// The kind of numbers in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Integers, halves and quarters. Results are exact for some steps.
    Grid,
    /// Any decimal number as well. Sums and products are rounded.
    Rounded,
}

/// The size and the features of one program. Numbers of features are relative weights unless their
/// comment says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mix {
    /// The target size, in nodes.
    pub size: u32,
    /// The kind of numbers.
    pub numbers: Numbers,
    /// Whether builtins without a fixed result may be observed.
    pub rough: bool,
    /// Whether subnormal and huge numbers and zeros of either sign may be observed.
    pub special: bool,
    /// The percentage of uses of a function that map the operands into its domain.
    pub tame: u32,
    /// Whether a loop may diverge at some pixels.
    pub divergent: bool,
    /// `if`.
    pub ifs: u32,
    /// `let`.
    pub lets: u32,
    /// Applications of functions.
    pub functions: u32,
    /// The percentage of functions whose parameters or results are functions.
    pub higher_order: u32,
    /// `rec-func`.
    pub loops: u32,
    /// The percentage of operands that are vectors although scalars would do.
    pub vectors: u32,
    /// The percentage of operands that are matrices although other types would do.
    pub matrices: u32,
    /// The percentage of binders that hide a predefined name or a name in scope.
    pub shadowing: u32,
    /// The percentage of bindings, arguments and branches that are never used. They may hold
    /// any expression.
    pub unused: u32,
    /// The number of outputs, 1 to 4.
    pub outputs: u32,
    /// The number of defines, 0 to 3.
    pub defines: u32,
}

impl Mix {
    /// Draws the mix of one program.
    pub fn draw(random: &mut Random, limits: &Limits) -> Mix {
        let several = random.percent(12);
        let divergent = random.permille(limits.divergent_permille);
        let size = size(random, limits);
        Mix {
            size: if divergent { size.max(limits.mean) } else { size },
            numbers: if random.percent(limits.grid_percent) { Numbers::Grid } else { Numbers::Rounded },
            rough: random.percent(limits.rough_percent),
            special: random.percent(limits.rough_percent / 3),
            tame: limits.tame_percent,
            divergent,
            ifs: random.pick(&[4, 12, 12, 30]),
            lets: random.pick(&[5, 14, 14, 30]),
            functions: random.pick(&[4, 14, 14, 40]),
            higher_order: random.pick(&[0, 20, 35, 70]),
            loops: if divergent { 60 } else { random.pick(&[0, 15, 20, 60]) },
            vectors: random.pick(&[30, 60, 90]),
            matrices: random.pick(&[0, 20, 30, 80]),
            shadowing: random.pick(&[0, 6, 6, 40]),
            unused: random.pick(&[0, 6, 6, 20]),
            outputs: if several { random.pick(&[1, 1, 2, 2, 3, 4]) } else { 1 },
            defines: if several { random.below(4) } else { 0 },
        }
    }
}

/// A random size around the mean. Many sizes are somewhat smaller, some are much larger.
fn size(random: &mut Random, limits: &Limits) -> u32 {
    let (low, mean, high) = (limits.smallest, limits.mean.max(limits.smallest), limits.largest.max(limits.smallest));
    let percent = |percent: u32| mean * percent / 100;
    let size = match random.below(20) {
        0..3 => random.between(low, percent(40)),
        3..11 => random.between(percent(40), percent(120)),
        11..19 => random.between(percent(120), percent(220)),
        _ => random.between(percent(220), high),
    };
    size.clamp(low, high)
}
