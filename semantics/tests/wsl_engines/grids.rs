//! Grids on both engines.

use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::group::{Dispatch, Ending, Resource};
use smallstep_semantics::wsl::machine::{self, Compiled, Grid, GridEnding, Memory};
use smallstep_semantics::wsl::open::Possible;
use smallstep_semantics::wsl::validate::validate;

const SUM: &str = "
    [numthreads(4, 1, 1)]
    compute void sum(device uint[] data : register(u0), device uint[] out : register(u1), uint3 id : SV_DispatchThreadID, uint lane : SV_GroupIndex,
                     uint3 group : SV_GroupID) {
        threadgroup uint[4] part;
        part[lane] = data[id.x] + out[group.x];
        for (uint step = 2; step > 0; step = step / 2) {
            AllMemoryBarrierWithGroupSync();
            if (lane < step) part[lane] += part[lane + step];
        }
        if (lane == 0) out[group.x] = part[0] + data[99];
    }";

#[test]
fn a_reduction_shows_the_same() {
    let program = validate(SUM).program.expect("it is valid");
    let entry = &program.entry_points[0];
    let data: Vec<u32> = (0..8).map(|k| k * k).collect();
    for strategy in [Strategy::First, Strategy::Random(3), Strategy::Random(4)] {
        let mut resources = Resource::of(&program, entry).expect("it has buffers only");
        resources[0].fill(&data);
        resources[1].fill(&[5, 6]);
        let dispatch = Dispatch { program: &program, text: SUM, entry, groups: [2, 1, 1], resources };
        let settings = Settings { strategy, ..Settings::default() };
        let Ending::Shown(shown) = dispatch.run(&settings) else { panic!("it does not end") };
        let compiled = Compiled::new(&program, entry.function).expect("it compiles");
        let mut memory = [data.clone(), vec![5, 6]];
        let settings = machine::Settings { strategy, ..machine::Settings::default() };
        let mut arguments = |group: u32, thread: u32, words: &mut Vec<u32>| {
            words.extend([0, 0, 8, 0]);
            words.extend([1, 0, 2, 0]);
            words.extend([group * 4 + thread, 0, 0, 0, thread, group, 0, 0, 0]);
        };
        let (ended, _) = compiled
            .dispatch(Grid { groups: 2, threads: 4 }, &mut arguments, &mut Memory::of(&mut memory), &settings)
            .expect("the arguments fit");
        assert_eq!(ended, GridEnding::Done);
        let slow: Vec<Option<u32>> = shown.buffers[1].iter().map(Possible::only).collect();
        assert_eq!(memory[1].iter().map(|&w| Some(w)).collect::<Vec<_>>(), slow, "{strategy:?}");
    }
}
