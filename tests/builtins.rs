//! Every builtin, at each of its types, against a second implementation that shares nothing with
//! the table and the number library.

use smallstep::theorem::Verdict;
use smallstep::theorem::case::{Case, NoCase, Settings};
use smallstep::theorem::second::{self, PIXEL};
use smallstep_semantics::lambda_v::builtin::{Builtin, Shape, TABLE};
use smallstep_semantics::lambda_v::machine::{self, Bounds};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::Setting;
use smallstep_semantics::number::Arithmetic;

#[test]
fn the_table_types_what_the_second_table_types() {
    for builtin in Builtin::all() {
        let mut typed = 0;
        for arity in 0..=4 {
            second::all_types(arity, &mut |types| {
                let expected = second::typing(builtin.name(), types);
                typed += usize::from(expected.is_some());
                let found: Vec<_> = builtin.row().overloads.iter().filter_map(|o| o.fits(types)).collect();
                assert!(found.len() <= 1, "{} overloads of {} fit {types:?}", found.len(), builtin.name());
                assert_eq!(found.first().copied(), expected, "{} on {types:?}", builtin.name());
                assert_eq!(builtin.resolve(types).map(|r| r.result), expected, "{} on {types:?}", builtin.name());
            });
        }
        assert!(typed > 0, "the second table does not know {}", builtin.name());
    }
    let longest = TABLE.iter().flat_map(|row| row.overloads).map(|o| o.params.len()).max();
    assert_eq!(longest, Some(4), "all arities were tried");
}

#[test]
fn every_overload_has_its_second_value() {
    for row in second::rows() {
        assert_eq!(row.differs(&Arithmetic::default()), None);
    }
    for row in TABLE {
        for overload in row.overloads {
            let tried = second::rows().iter().any(|r| {
                let types: Vec<_> = r.operands.iter().map(|o| o.ty).collect();
                r.builtin.name() == row.name && overload.fits(&types).is_some()
            });
            assert!(tried, "{} {}", row.name, overload.signature());
        }
    }
}

/// The λV machine computes the value of the second implementation, and the translated program
/// shows it.
#[test]
fn programs_of_one_builtin_have_its_second_value_from_end_to_end() {
    let settings = Settings { size: (1, 1), ..Settings::default() };
    let setting = Setting::at_pixel(PIXEL.0, PIXEL.1);
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (settings, setting) = (&settings, &setting);
            scope.spawn(move || {
                for row in second::rows().iter().skip(thread).step_by(2) {
                    let expression = Program::read(&row.expression()).unwrap_or_else(|e| panic!("{}: {}", row.expression(), e.message));
                    let (outcome, _) = machine::run(&expression, expression.outputs[0].term, setting, Bounds::default());
                    assert_eq!(row.judge(outcome.observed()), None);

                    let text = row.program();
                    let program = Program::read(&text).unwrap_or_else(|e| panic!("{text}: {}", e.message));
                    let case = match Case::new(program, settings) {
                        Ok(case) => case,
                        Err(NoCase::IllTyped(e)) => panic!("{text}: {}", e.message()),
                        Err(NoCase::Decided(verdict)) => panic!("{text}: {}", verdict.why()),
                    };
                    assert_eq!(case.run(settings).verdict, Verdict::Agree, "{text}");
                }
            });
        }
    });
}

#[test]
fn a_column_needs_a_literal_index_in_range() {
    let column = Builtin::from_name("column").expect("is there");
    assert_eq!(column.row().overloads[0].params[0], Shape::Index);
    for text in [
        "(column 2 (mat2 (vec2 1 2) (vec2 3 4)))",
        "(column (+ 0 1) (mat2 (vec2 1 2) (vec2 3 4)))",
        "(column 0.5 (mat2 (vec2 1 2) (vec2 3 4)))",
    ] {
        let program = Program::read(text).expect("reads");
        match Case::new(program, &Settings::default()) {
            Err(NoCase::IllTyped(e)) => assert_eq!(e.code(), "lv/t-builtin", "{text}"),
            _ => panic!("{text} is accepted"),
        }
    }
}
