//! The shape of a program: the program without names and most numbers.

use smallstep_semantics::lambda_v::builtin::Builtin;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::terms::{Node, TermId};

/// The constructs and builtins of a program in the order of its text. Two programs have the same
/// shape if they are equal except for names, the locations of outputs, and the values of nonzero
/// numbers. A zero and its sign count, since mistakes in folding depend on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape(Vec<Part>);

/// One construct. A construct that contains others has their number, so that the sequence
/// is unambiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Output,
    Zero { negative: bool },
    Number,
    Bool(bool),
    Var { group: u32, slot: u32 },
    Builtin(Builtin),
    If,
    List(usize),
    Let(usize),
    Func(usize),
    RecFunc(usize),
}

impl Shape {
    /// The shape of a program.
    pub fn of(program: &Program) -> Shape {
        let terms = &program.terms;
        let mut parts = Vec::new();
        for output in &program.outputs {
            parts.push(Part::Output);
            // The body is pushed first, so that it is popped after the values.
            let mut todo: Vec<TermId> = vec![output.term];
            while let Some(id) = todo.pop() {
                parts.push(match terms.node(id) {
                    Node::Num(bits) if bits << 1 == 0 => Part::Zero { negative: bits != 0 },
                    Node::Num(_) => Part::Number,
                    Node::Bool(truth) => Part::Bool(truth),
                    Node::Var { group, slot } => Part::Var { group, slot },
                    Node::Builtin(builtin) => Part::Builtin(builtin),
                    Node::If => Part::If,
                    Node::List(items) => {
                        todo.extend(terms.items(items).iter().rev());
                        Part::List(items.len())
                    }
                    Node::Let { names, values, body } => {
                        todo.push(body);
                        todo.extend(terms.items(values).iter().rev());
                        Part::Let(names.len())
                    }
                    Node::Func { names, body } => {
                        todo.push(body);
                        Part::Func(names.len())
                    }
                    Node::RecFunc { names, body } => {
                        todo.push(body);
                        Part::RecFunc(names.len())
                    }
                    Node::Ext(never) => match never {},
                });
            }
        }
        Shape(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Shape {
        Shape::of(&Program::read(text).unwrap_or_else(|e| panic!("{text}: {}", e.message)))
    }

    #[test]
    fn names_and_numbers_that_are_not_zero_do_not_count() {
        let one = "((rec-func (i sum) (if (less-than i 4) (rec (+ i 1) (+ sum 2)) sum)) 0 8)";
        let other = "((rec-func (n acc) (if (less-than n 70) (rec (+ n 0.5) (+ acc -2)) acc)) 0 1)";
        assert_eq!(shape(one), shape(other));
        assert_eq!(shape("(output 3 (- 0 (x (frag-coord))))"), shape("(- 0 (x (frag-coord)))"));
        assert_eq!(shape("(let ((a 1)) (+ a 2))"), shape("(define a 1) (output 0 (+ a 2))"));
    }

    #[test]
    fn constructs_builtins_variables_and_zeros_count() {
        let different = [
            "(- 0 (x (frag-coord)))",
            "(- -0 (x (frag-coord)))",
            "(- 1 (x (frag-coord)))",
            "(- 0 (y (frag-coord)))",
            "(+ 0 (x (frag-coord)))",
            "(- 0 (- (x (frag-coord))))",
            "((func (a b) (- a b)) 0 1)",
            "((func (a b) (- b a)) 0 1)",
            "((func (a) (func (b) (- b a))) 0 1)",
            "(let ((a 0) (b 1)) (- a b))",
            "(let ((a 0)) (let ((b 1)) (- a b)))",
            "(if true 0 1)",
            "(if false 0 1)",
            "(vec2 0 (vec2 0 1))",
            "(vec2 (vec2 0 0) 1)",
            "(output 0 0) (output 1 0)",
        ];
        for (i, a) in different.iter().enumerate() {
            for b in &different[i + 1..] {
                assert_ne!(shape(a), shape(b), "{a} and {b}");
            }
        }
    }
}
