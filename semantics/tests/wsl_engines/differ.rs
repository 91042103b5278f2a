//! The comparison of both engines says no where they run something else.

use smallstep_semantics::wsl::beside::{self, Compared, Fuel};
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::group::{Buffer, Dispatch};
use smallstep_semantics::wsl::machine::Compiled;
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;

const FUEL: Fuel = Fuel { machine: 1000, relation: 10_000 };

fn function(program: &Program, name: &str) -> FunctionId {
    let found = program.env.functions.iter().position(|f| program.env.names.name(f.name.name) == name);
    FunctionId(found.expect("it is there") as u32)
}

#[test]
fn another_function_or_entry_point_is_a_difference() {
    let text = "
        int up(int x) { return x + 1; }
        int down(int x) { return x - 1; }
        int gone(int x) { discard; }
        [numthreads(2, 1, 1)] compute void one(device uint[] out : register(u0), uint lane : SV_GroupIndex) { out[lane] = 1; }
        [numthreads(2, 1, 1)] compute void two(device uint[] out : register(u0), uint lane : SV_GroupIndex) { out[lane] = 2; }
        [numthreads(2, 1, 1)] compute void apart(device uint[] out : register(u0), uint lane : SV_GroupIndex) {
            if (lane == 0) AllMemoryBarrierWithGroupSync();
            out[lane] = 1;
        }
        [numthreads(2, 1, 1)] compute void racy(device uint[] out : register(u0), uint lane : SV_GroupIndex) { out[0] = lane; }";
    let program = validate(text).program.expect("it is valid");
    let compiled = |name: &str| Compiled::new(&program, function(&program, name)).expect("it compiles");
    let call = |compiled_as: &str, name: &str| {
        let (compiled, f) = (compiled(compiled_as), function(&program, name));
        beside::call((&program, text), (&compiled, f), &[vec![4]], Strategy::First, FUEL).expect("the argument fits")
    };
    assert_eq!(call("up", "up"), Compared::Same("5".into()));
    assert_eq!(call("down", "up"), Compared::Differ { machine: "3".into(), relation: "5".into() });
    assert_eq!(call("gone", "gone"), Compared::Same("discarded".into()));
    assert!(matches!(call("gone", "up"), Compared::Differ { .. }) && matches!(call("up", "gone"), Compared::Differ { .. }));
    let dispatch = |compiled_as: &str, name: &str| {
        let entry = program.entry_points.iter().find(|e| e.function == function(&program, name)).expect("it is there");
        let mut buffers = Buffer::of(&program, entry).expect("it is a buffer");
        buffers[0].words = vec![0; 2];
        let dispatch = Dispatch { program: &program, text, entry, groups: [1; 3], buffers };
        beside::dispatch(&dispatch, &compiled(compiled_as), Strategy::First, FUEL).expect("what is bound fits")
    };
    assert_eq!(dispatch("one", "one"), Compared::Same("[[Some(1), Some(1)]]".into()));
    assert_eq!(dispatch("apart", "apart"), Compared::Same("diverged".into()));
    for (machine, relation) in [("two", "one"), ("apart", "one"), ("one", "apart")] {
        assert!(matches!(dispatch(machine, relation), Compared::Differ { .. }), "{machine} beside {relation}");
    }
    // What races depends on the schedule.
    assert_eq!(dispatch("racy", "racy"), Compared::Not);
}
