//! The verdict of a comparison of any kind: programs on devices (`theorem`), modules
//! (`theorem::refine`), scripts (`run::amber`), or functions of a device (`precision`).

use std::fmt;

/// The verdict of a comparison. `D` describes a difference of two sides. The other reasons
/// are sentences.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict<D> {
    /// Every observation was compared and is allowed.
    Agree,
    /// An observation is not allowed, or a promised premise fails.
    Disagree(D),
    /// There is nothing to compare with. The source provably diverges, or allows everything.
    Vacuous(String),
    /// Nothing differs, but some observations have several allowed values.
    Undecided(String),
    /// The comparison is missing or incomplete, since a device, an engine or a case
    /// lacks something.
    Unchecked(String),
    /// The comparison is missing or incomplete, because of fuel or a limit of an engine. Reports
    /// call it unchecked too. Its exit code is another.
    Limit(String),
    /// The program has undefined behaviour, a race, or a barrier that not all threads reach.
    Undefined(String),
    /// The program is invalid, or does not fit its inputs.
    Invalid(String),
    /// The program needs a feature that is not modeled.
    Unsupported(String),
    /// The compiler rejects the program, and names a construct that it does not translate.
    Refused(String),
    /// An engine crashed, hung or was lost on this program.
    Failed(String),
}

/// The exit codes of the command line.
pub mod code {
    /// Everything agrees, or the command is done.
    pub const DONE: u8 = 0;
    /// A disagreement.
    pub const DISAGREE: u8 = 1;
    /// Bad usage, or an invalid program.
    pub const INVALID: u8 = 2;
    /// Nothing is wrong, but something that was requested is unchecked or undecided, or everything
    /// is vacuous.
    pub const UNCHECKED: u8 = 3;
    /// An engine crashed, hung or lost its device.
    pub const FAILED: u8 = 4;
    /// The program has undefined behaviour.
    pub const UNDEFINED: u8 = 5;
    /// The program needs something unsupported.
    pub const UNSUPPORTED: u8 = 6;
    /// A limit was exceeded, or the fuel.
    pub const LIMIT: u8 = 7;

    /// The codes from worst to best. The worst of several wins.
    const ORDER: [u8; 8] = [DISAGREE, FAILED, UNDEFINED, INVALID, UNSUPPORTED, LIMIT, UNCHECKED, DONE];

    /// The number of codes that are worse than this code. 0 for an unknown code.
    pub(super) fn worse_code_count(code: u8) -> usize {
        ORDER.iter().position(|&c| c == code).unwrap_or(0)
    }

    /// The worse of two codes.
    pub fn worse(a: u8, b: u8) -> u8 {
        if worse_code_count(b) < worse_code_count(a) { b } else { a }
    }
}

impl<D> Verdict<D> {
    /// The word for it in reports.
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

    /// The exit code, from [`code`].
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

    /// The difference, or the reason for no agreement. `None` for agreement.
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

    /// The reason, in some lines. Empty for agreement.
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

    /// The severity: first by exit code, then by how little was compared.
    fn rank(&self) -> (usize, u8) {
        let uncompared = match self {
            Verdict::Unchecked(_) => 2,
            Verdict::Vacuous(_) => 1,
            _ => 0,
        };
        (usize::MAX - code::worse_code_count(self.code()), uncompared)
    }

    /// The worse of two verdicts on one program. The first if they are equally bad.
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
