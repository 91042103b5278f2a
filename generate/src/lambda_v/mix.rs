//! What a program is made of: its size and how often it uses each feature, drawn anew for each
//! program, so that a campaign sees programs full of loops, programs full of matrices and programs
//! of nothing but sums.

use crate::random::Random;

/// What the programs of a campaign may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The fewest nodes to aim at.
    pub smallest: u32,
    /// The nodes to aim at on average.
    pub mean: u32,
    /// The most nodes to aim at; a program may go a few beyond.
    pub largest: u32,
    /// How many of a hundred programs may use, wherever their result is seen, builtins whose result
    /// no specification fixes (such as sin) and special numbers. In the others such builtins stand
    /// only where they cannot be seen.
    pub rough_percent: u32,
    /// How many of a hundred programs are written with [`Numbers::Grid`] only.
    pub grid_percent: u32,
    /// How many of a hundred uses of functions that are bounded on a part of the floats only draw
    /// their operands into that part.
    pub tame_percent: u32,
    /// How many of a thousand programs hold a loop that diverges at some pixels.
    pub divergent_permille: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { smallest: 5, mean: 40, largest: 150, rough_percent: 11, grid_percent: 70, tame_percent: 0, divergent_permille: 12 }
    }
}

/// How far the programs of a campaign keep to what all devices must compute alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// Most programs do, some do not.
    #[default]
    Mixed,
    /// Numbers that are exactly represented, and operations whose result is fixed: nearly every
    /// lane has one answer.
    Decided,
    /// Every builtin and any number, wherever they are seen: most lanes have a set of answers.
    Rough,
}

impl Mode {
    /// Every mode with its name.
    pub const ALL: [(&'static str, Mode); 3] = [("mixed", Mode::Mixed), ("decided", Mode::Decided), ("rough", Mode::Rough)];

    /// The limits of its programs.
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

/// Which numbers a program is written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Integers, halves, quarters: results are exact for some steps.
    Grid,
    /// Any decimal as well: sums and products are rounded.
    Rounded,
}

/// The size and the features of one program. Features are relative weights where
/// nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mix {
    /// The nodes to aim at.
    pub size: u32,
    /// The numbers.
    pub numbers: Numbers,
    /// Whether builtins without a fixed result may be seen.
    pub rough: bool,
    /// Whether numbers may be subnormal, huge or zeros of either sign, and be seen.
    pub special: bool,
    /// In percent: uses of a function that draw its operands into its domain.
    pub tame: u32,
    /// Whether a loop may diverge at some pixels.
    pub divergent: bool,
    /// `if`.
    pub ifs: u32,
    /// `let`.
    pub lets: u32,
    /// Applications of functions.
    pub functions: u32,
    /// In percent: functions whose parameters or results are functions.
    pub higher_order: u32,
    /// rec-func.
    pub loops: u32,
    /// In percent: operands that are vectors where they need not be.
    pub vectors: u32,
    /// In percent: operands that are matrices where they need not be.
    pub matrices: u32,
    /// In percent: binders that hide a predefined identifier or one in scope.
    pub shadowing: u32,
    /// In percent: bindings, arguments and branches that are never used, and hold what they like.
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

/// A size about the mean: many somewhat smaller, some much larger.
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
