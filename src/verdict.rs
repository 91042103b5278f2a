//! What a comparison came to, whatever was compared: programs and devices (`theorem`), modules
//! (`theorem::refine`), scripts (`run::amber`), functions of a device (`precision`).

use std::fmt;

/// What a comparison came to; `D` says how two sides differ. The other reasons are sentences.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict<D> {
    /// Everything observed was compared, and is allowed.
    Agree,
    /// Something is observed that is not allowed, or a premise that was promised fails.
    Disagree(D),
    /// There is nothing to compare with: the source provably diverges, or allows everything.
    Vacuous(String),
    /// Nothing differs, and some of what was observed may come out in several ways.
    Undecided(String),
    /// It was not compared, or not wholly: a device, an engine or a case lacks something.
    Unchecked(String),
    /// It was not compared, or not wholly: fuel, or a limit of an engine. Reports call it unchecked
    /// too; its exit code is another.
    Limit(String),
    /// The program has undefined behaviour, or a race, or a barrier that not all threads reach.
    Undefined(String),
    /// The program is invalid, or does not fit what it is run with.
    Invalid(String),
    /// The program needs something that is not modeled.
    Unsupported(String),
    /// The compiler refuses the program: it names a construct that it does not translate.
    Refused(String),
    /// An engine crashed, hung or was lost on this program.
    Failed(String),
}

/// The exit codes of the command line.
pub mod code {
    /// All agree, or done.
    pub const DONE: u8 = 0;
    /// A disagreement.
    pub const DISAGREE: u8 = 1;
    /// Bad usage, or an invalid program.
    pub const INVALID: u8 = 2;
    /// Nothing wrong found, but something that was asked for stayed unchecked or undecided, or
    /// everything was vacuous.
    pub const UNCHECKED: u8 = 3;
    /// An engine crashed, hung or lost its device.
    pub const FAILED: u8 = 4;
    /// Undefined behaviour in the program.
    pub const UNDEFINED: u8 = 5;
    /// Unsupported.
    pub const UNSUPPORTED: u8 = 6;
    /// A limit, or fuel.
    pub const LIMIT: u8 = 7;

    /// From the worst code on: of several the worst wins.
    const ORDER: [u8; 8] = [DISAGREE, FAILED, UNDEFINED, INVALID, UNSUPPORTED, LIMIT, UNCHECKED, DONE];

    /// How many codes are worse than this one; 0 for what is no code of ours.
    pub(super) fn worse_ones(code: u8) -> usize {
        ORDER.iter().position(|&c| c == code).unwrap_or(0)
    }

    /// The worse of two codes.
    pub fn worse(a: u8, b: u8) -> u8 {
        if worse_ones(b) < worse_ones(a) { b } else { a }
    }
}

impl<D> Verdict<D> {
    /// The word that reports use.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Agree => "agree",
            Verdict::Disagree(_) => "disagree",
            Verdict::Vacuous(_) => "vacuous",
            Verdict::Undecided(_) => "undecided",
            Verdict::Unchecked(_) | Verdict::Limit(_) => "unchecked",
            Verdict::Undefined(_) => "undefined",
            Verdict::Invalid(_) => "invalid",
            Verdict::Unsupported(_) => "unsupported",
            Verdict::Refused(_) => "refused",
            Verdict::Failed(_) => "failed",
        }
    }

    /// The exit code, of [`code`].
    pub fn code(&self) -> u8 {
        match self {
            Verdict::Agree => code::DONE,
            Verdict::Disagree(_) => code::DISAGREE,
            Verdict::Vacuous(_) | Verdict::Undecided(_) | Verdict::Unchecked(_) => code::UNCHECKED,
            Verdict::Limit(_) => code::LIMIT,
            Verdict::Undefined(_) => code::UNDEFINED,
            Verdict::Invalid(_) => code::INVALID,
            Verdict::Unsupported(_) | Verdict::Refused(_) => code::UNSUPPORTED,
            Verdict::Failed(_) => code::FAILED,
        }
    }

    /// How two sides differ, or why there is no agreement; nothing for agreement.
    pub fn reason(&self) -> Option<Result<&D, &str>> {
        match self {
            Verdict::Agree => None,
            Verdict::Disagree(difference) => Some(Ok(difference)),
            Verdict::Vacuous(why)
            | Verdict::Undecided(why)
            | Verdict::Unchecked(why)
            | Verdict::Limit(why)
            | Verdict::Undefined(why)
            | Verdict::Invalid(why)
            | Verdict::Unsupported(why)
            | Verdict::Refused(why)
            | Verdict::Failed(why) => Some(Err(why)),
        }
    }

    /// Why, in some lines; empty for agreement.
    pub fn why(&self) -> String
    where
        D: fmt::Display,
    {
        match (self, self.reason()) {
            (_, None) => String::new(),
            (_, Some(Ok(difference))) => difference.to_string(),
            (Verdict::Unsupported(_), Some(Err(why))) => format!("unsupported: {why}"),
            (_, Some(Err(why))) => why.to_string(),
        }
    }

    /// How bad it is: by its exit code, and within one code by how much was compared.
    fn rank(&self) -> (usize, u8) {
        let uncompared = match self {
            Verdict::Unchecked(_) => 2,
            Verdict::Vacuous(_) => 1,
            _ => 0,
        };
        (usize::MAX - code::worse_ones(self.code()), uncompared)
    }

    /// The worse of two verdicts on one program; the first if they are equally bad.
    pub fn worse(self, other: Verdict<D>) -> Verdict<D> {
        if other.rank() > self.rank() { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Verdict<&'static str>> {
        let why = || "why".to_string();
        vec![
            Verdict::Agree,
            Verdict::Undecided(why()),
            Verdict::Vacuous(why()),
            Verdict::Unchecked(why()),
            Verdict::Limit(why()),
            Verdict::Unsupported(why()),
            Verdict::Invalid(why()),
            Verdict::Undefined(why()),
            Verdict::Failed(why()),
            Verdict::Disagree("how"),
        ]
    }

    #[test]
    fn each_is_worse_than_the_one_before() {
        for pair in all().windows(2) {
            let [a, b] = pair else { unreachable!("windows of two") };
            assert_eq!((a.clone().worse(b.clone()), b.clone().worse(a.clone())), (b.clone(), b.clone()));
            assert_eq!(code::worse(a.code(), b.code()), b.code());
        }
        assert_eq!(Verdict::Refused::<&str>("first".into()).worse(Verdict::Unsupported("second".into())).why(), "first");
    }

    #[test]
    fn only_agreement_has_no_reason() {
        assert!(all().iter().all(|verdict| verdict.why().is_empty() == (*verdict == Verdict::Agree)));
    }
}
