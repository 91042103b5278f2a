//! rec-match(τ1, τ2) = τ: the type of an if from the types of its branches (report §5). At most one
//! case applies. If none does, the if is ill-typed (LV-9: PureRec meets PureRec only as equals, Rec
//! τ never meets Rec τ' or another τ').

use super::super::types::Type;
use crate::rule::Rule;

/// rec-match(τ, τ) = τ                                                  [lv/rec-match-same, 000 §5]
fn same(left: Type, right: Type) -> Option<Type> {
    (left == right).then_some(left)
}

/// rec-match(Rec τ, τ) = Rec τ                                      [lv/rec-match-rec-left, 000 §5]
fn rec_left(left: Type, right: Type) -> Option<Type> {
    matches!((left, right), (Type::Rec(l), Type::Ground(r)) if l == r).then_some(left)
}

/// rec-match(τ, Rec τ) = Rec τ                                     [lv/rec-match-rec-right, 000 §5]
fn rec_right(left: Type, right: Type) -> Option<Type> {
    matches!((left, right), (Type::Ground(l), Type::Rec(r)) if l == r).then_some(right)
}

/// rec-match(PureRec, Rec τ) = Rec τ                           [lv/rec-match-pure-left-rec, 000 §5]
fn pure_left_rec(left: Type, right: Type) -> Option<Type> {
    matches!((left, right), (Type::PureRec, Type::Rec(_))).then_some(right)
}

/// rec-match(Rec τ, PureRec) = Rec τ                          [lv/rec-match-pure-right-rec, 000 §5]
fn pure_right_rec(left: Type, right: Type) -> Option<Type> {
    matches!((left, right), (Type::Rec(_), Type::PureRec)).then_some(left)
}

/// rec-match(τ, PureRec) = Rec τ                                  [lv/rec-match-pure-right, 000 §5]
fn pure_right(left: Type, right: Type) -> Option<Type> {
    match (left, right) {
        (Type::Ground(g), Type::PureRec) => Some(Type::Rec(g)),
        _ => None,
    }
}

/// rec-match(PureRec, τ) = Rec τ                                   [lv/rec-match-pure-left, 000 §5]
fn pure_left(left: Type, right: Type) -> Option<Type> {
    match (left, right) {
        (Type::PureRec, Type::Ground(g)) => Some(Type::Rec(g)),
        _ => None,
    }
}

/// One case: its rule and its function.
pub type Case = (Rule, fn(Type, Type) -> Option<Type>);

/// The cases in the report's order.
pub const CASES: [Case; 7] = [
    (Rule::LvRecMatchSame, same),
    (Rule::LvRecMatchRecLeft, rec_left),
    (Rule::LvRecMatchRecRight, rec_right),
    (Rule::LvRecMatchPureLeftRec, pure_left_rec),
    (Rule::LvRecMatchPureRightRec, pure_right_rec),
    (Rule::LvRecMatchPureRight, pure_right),
    (Rule::LvRecMatchPureLeft, pure_left),
];

/// The type and the case that gives it.
pub fn rec_match(left: Type, right: Type) -> Option<(Type, Rule)> {
    CASES.iter().find_map(|(rule, case)| case(left, right).map(|ty| (ty, *rule)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lambda_v::types::Ground;

    #[test]
    fn at_most_one_case_applies_and_the_result_is_symmetric() {
        let mut types = vec![Type::PureRec];
        types.extend(Ground::ALL.iter().flat_map(|&g| [Type::Ground(g), Type::Rec(g)]));
        for &a in &types {
            for &b in &types {
                let applying = CASES.iter().filter(|(_, case)| case(a, b).is_some()).count();
                assert!(applying <= 1, "{a} {b}");
                assert_eq!(rec_match(a, b).map(|m| m.0), rec_match(b, a).map(|m| m.0), "{a} {b}");
            }
        }
        let num = Ground::NUM;
        assert_eq!(rec_match(Type::Rec(num), Type::Rec(Ground::BOOL)), None);
        assert_eq!(rec_match(Type::PureRec, Type::PureRec), Some((Type::PureRec, Rule::LvRecMatchSame)));
    }
}
