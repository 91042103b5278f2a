//! The enumerator of executions: litmus tests with what the model allows, thousands of random
//! programs against a second enumerator, and bugs planted in the axioms.
//!
//! The second enumerator takes the axioms literally. It tries every choice of what each atomic
//! reads and every modification order. Relations are matrices, and their closures show the cycles.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use smallstep_semantics::concurrency::axioms::{Event, EventKind, Location};
use smallstep_semantics::concurrency::weak::{Agents, Done, Upcoming, enumerate};
use smallstep_semantics::concurrency::{Access, AtomicOp, Class, Kind, Ordering, Race, Rules, Scope, Semantics, Topology};
use smallstep_semantics::interleavings::Budget;

use super::oracle::{self, Action};

/// 2 workgroups of 4 invocations in subgroups of 2.
fn topology() -> Topology {
    Topology::new(2, 4, 2).unwrap()
}

/// The operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Load,
    /// Stores a number. If the flag is set, it adds the number that was last read.
    Store(u64, bool),
    Add(u64),
    PlainLoad,
    PlainStore(u64),
    Fence,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Instruction {
    op: Op,
    /// The variable. Only `w` is in Workgroup memory.
    at: char,
    scope: Scope,
    semantics: Semantics,
}

impl Instruction {
    fn access(&self, agent: u32) -> Option<Access> {
        let Instruction { op, at, scope, semantics } = *self;
        let atomic = |op| Kind::Atomic { op, scope, semantics };
        let kind = match op {
            Op::Load => atomic(AtomicOp::Load),
            Op::Store(..) => atomic(AtomicOp::Store),
            Op::Add(_) => atomic(AtomicOp::ReadModifyWrite),
            Op::PlainLoad => Kind::Load,
            Op::PlainStore(_) => Kind::Store,
            Op::Fence => return None,
        };
        let class = if at == 'w' { Class::Workgroup } else { Class::Uniform };
        Some(Access { agent: topology().agent(agent), object: at as u32, offset: 0, bytes: 4, class, kind, instruction: 0 })
    }

    fn reads(&self) -> bool {
        matches!(self.op, Op::Load | Op::Add(_) | Op::PlainLoad)
    }
}

/// The number of each agent, and its instructions.
type Program = Vec<(u32, Vec<Instruction>)>;

/// The result of a run: the numbers that each agent has read, and memory at the end. `None` if
/// there is a race.
type Shown = Option<(Vec<Vec<u64>>, BTreeMap<char, u64>)>;

/// The state of a run of a program.
#[derive(Clone)]
struct Run<'p> {
    program: &'p Program,
    read: Vec<Vec<u64>>,
    at: Vec<usize>,
    memory: BTreeMap<u32, u64>,
    raced: bool,
}

impl Run<'_> {
    fn new(program: &Program) -> Run<'_> {
        let (read, at) = (vec![Vec::new(); program.len()], vec![0; program.len()]);
        Run { program, read, at, memory: BTreeMap::new(), raced: false }
    }

    fn shown(&self) -> Shown {
        let memory = self.program.iter().flat_map(|(_, all)| all).filter(|i| i.op != Op::Fence);
        let memory = memory.map(|i| (i.at, self.memory.get(&(i.at as u32)).copied().unwrap_or(0))).collect();
        (!self.raced).then(|| (self.read.clone(), memory))
    }

    fn index(&self, agent: u32) -> usize {
        self.program.iter().position(|(of, _)| *of == agent).unwrap()
    }
}

impl Agents for Run<'_> {
    type Value = u64;

    fn ready(&self) -> Vec<u32> {
        let left = |i: &usize| self.at[*i] < self.program[*i].1.len();
        if self.raced { Vec::new() } else { (0..self.program.len()).filter(left).map(|i| self.program[i].0).collect() }
    }

    fn upcoming(&self, agent: u32) -> Vec<Upcoming<u64>> {
        let i = self.index(agent);
        let Some(access) = self.program[i].1.get(self.at[i]).and_then(|next| next.access(agent)) else { return Vec::new() };
        let atomic = if let Kind::Atomic { op, .. } = access.kind { Some(op.reads()) } else { None };
        vec![Upcoming { at: (access.object, 0, 4), atomic, current: self.memory.get(&access.object).copied().unwrap_or(0) }]
    }

    fn step(&mut self, agent: u32) -> Vec<Done<u64>> {
        let i = self.index(agent);
        let next = self.program[i].1[self.at[i]];
        self.at[i] += 1;
        let old = self.memory.get(&(next.at as u32)).copied().unwrap_or(0);
        let last = self.read[i].last().copied().unwrap_or(0);
        if next.reads() {
            self.read[i].push(old);
        }
        let wrote = match next.op {
            Op::Store(n, too) => Some(n + if too { last } else { 0 }),
            Op::Add(n) => Some(old + n),
            Op::PlainStore(n) => Some(n),
            Op::Load | Op::PlainLoad | Op::Fence => None,
        };
        if let Some(value) = wrote {
            self.memory.insert(next.at as u32, value);
        }
        let kind = next.access(agent).map_or(EventKind::Fence(next.scope, next.semantics), EventKind::Access);
        vec![Done { event: Event { agent, kind }, wrote }]
    }

    fn hold(&mut self, at: Location, value: &u64) {
        self.memory.insert(at.0, *value);
    }

    fn race(&mut self, _: &Race) {
        self.raced = true;
    }

    fn stopped(&self) -> Option<bool> {
        self.raced.then_some(true)
    }
}

/// All results of a program, by the enumerator.
fn shown(program: &Program, rules: Rules) -> BTreeSet<Shown> {
    let budget = Budget { executions: 1 << 20, steps: 1 << 20 };
    let (found, done) = enumerate(&Run::new(program), topology(), rules, budget, &mut |found, run: &Run<'_>, _| found.push(run.shown()));
    assert!(done.complete, "{program:?}: {done:?}");
    found.into_iter().collect()
}

/// All lists with one element of each of these lists.
fn product<T: Clone>(choices: &[Vec<T>]) -> Vec<Vec<T>> {
    choices.iter().fold(vec![Vec::new()], |all, next| {
        all.iter().flat_map(|list| next.iter().map(move |one| [list.as_slice(), std::slice::from_ref(one)].concat())).collect()
    })
}

fn permutations(of: &[usize]) -> Vec<Vec<usize>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let without = |x: &usize| of.iter().copied().filter(|y| y != x).collect::<Vec<_>>();
    of.iter().flat_map(|x| permutations(&without(x)).into_iter().map(|rest| [vec![*x], rest].concat())).collect()
}

/// All results of a program, by the axioms taken literally. Plain accesses and atomics are to
/// different variables.
fn by_the_letter(program: &Program) -> BTreeSet<Shown> {
    let t = topology();
    let all: Vec<(usize, u32, Instruction)> =
        program.iter().enumerate().flat_map(|(i, (agent, own))| own.iter().map(move |instruction| (i, *agent, *instruction))).collect();
    let n = all.len();
    let events: Vec<oracle::Event> = all
        .iter()
        .map(|(_, agent, i)| {
            let action = i.access(*agent).map_or(Action::Fence(i.scope, i.semantics), Action::Access);
            oracle::Event { agent: *agent, action }
        })
        .collect();
    let is_atomic = |e: usize| matches!(all[e].2.op, Op::Load | Op::Store(..) | Op::Add(_));
    let writes = |e: usize| matches!(all[e].2.op, Op::Store(..) | Op::Add(_));
    let plainly_writes = |e: usize| matches!(all[e].2.op, Op::PlainStore(_));
    let same = |a: usize, b: usize| all[a].2.at == all[b].2.at;
    let sources: Vec<Vec<Option<usize>>> = (0..n)
        .map(|e| match is_atomic(e) && all[e].2.reads() {
            true => [None].into_iter().chain((0..n).filter(|&w| w != e && writes(w) && same(w, e)).map(Some)).collect(),
            false => vec![None],
        })
        .collect();
    let names: BTreeSet<char> = all.iter().filter(|(.., i)| i.op != Op::Fence).map(|(.., i)| i.at).collect();
    let orders: Vec<Vec<Vec<usize>>> =
        names.iter().map(|&at| permutations(&(0..n).filter(|&e| writes(e) && all[e].2.at == at).collect::<Vec<_>>())).collect();
    let mut found = BTreeSet::new();
    for order in product(&orders) {
        let modified = |a: usize, b: usize| {
            let place = |e: usize| order.iter().find_map(|one| one.iter().position(|x| *x == e));
            same(a, b) && matches!((place(a), place(b)), (Some(a), Some(b)) if a < b)
        };
        for reads_from in product(&sources) {
            let behind = |head: usize| {
                let one = order.iter().find(|one| one.contains(&head)).unwrap();
                one.iter().copied().skip_while(|x| *x != head).skip(1).collect()
            };
            let happens = oracle::happens(&t, &events, &reads_from, &behind);
            let before = |a: usize, b: usize| happens[a][b] || a < b && all[a].1 == all[b].1;
            let located = |a: usize, b: usize| a != b && same(a, b) && all[a].2.op != Op::Fence && all[b].2.op != Op::Fence && before(a, b);
            // The values. `None` if a value depends on itself.
            let mut value: Vec<Option<(u64, u64)>> = vec![None; n];
            for _ in 0..=n {
                for e in 0..n {
                    let read = match (is_atomic(e) && all[e].2.reads(), reads_from[e]) {
                        (true, Some(w)) => value[w].map(|(_, wrote)| wrote),
                        (true, None) => Some(0),
                        // The visible plain write, of those that happen before the load.
                        (false, _) if all[e].2.op == Op::PlainLoad => {
                            let visible =
                                |w: &usize| located(*w, e) && !(0..n).any(|z| plainly_writes(z) && located(*w, z) && located(z, e));
                            let write = (0..n).filter(|&w| plainly_writes(w)).find(visible);
                            Some(write.map_or(0, |w| if let Op::PlainStore(n) = all[w].2.op { n } else { 0 }))
                        }
                        _ => Some(0),
                    };
                    let last = (0..e).rev().find(|&x| all[x].1 == all[e].1 && all[x].2.reads());
                    let last = last.map_or(Some(0), |x| value[x].map(|(read, _)| read));
                    value[e] = match all[e].2.op {
                        Op::Store(n, true) => last.map(|last| (0, n + last)),
                        Op::Store(n, false) | Op::PlainStore(n) => Some((0, n)),
                        Op::Add(n) => read.map(|read| (read, read + n)),
                        _ => read.map(|read| (read, 0)),
                    };
                }
            }
            if value.iter().any(Option::is_none) {
                continue;
            }
            // Location-ordered, modification order, reads-from, and from-reads.
            let mut edge = vec![vec![false; n]; n];
            for a in 0..n {
                for b in 0..n {
                    let from_read = is_atomic(a) && all[a].2.reads() && writes(b) && same(a, b) && a != b;
                    let from_read = from_read && reads_from[a].is_none_or(|w| modified(w, b));
                    let reads = reads_from[b] == Some(a) && is_atomic(b);
                    edge[a][b] = located(a, b) || modified(a, b) || reads || from_read;
                }
            }
            for k in 0..n {
                for a in 0..n {
                    for b in 0..n {
                        edge[a][b] |= edge[a][k] && edge[k][b];
                    }
                }
            }
            if (0..n).any(|e| edge[e][e]) {
                continue;
            }
            let races = (0..n).any(|a| (0..a).any(|b| oracle::conflict(&t, &events, a, b) && !happens[a][b] && !happens[b][a]));
            if races {
                found.insert(None);
                continue;
            }
            let mut read = vec![Vec::new(); program.len()];
            for e in (0..n).filter(|&e| all[e].2.reads()) {
                read[all[e].0].push(value[e].unwrap().0);
            }
            let last = |(at, order): (&char, &Vec<usize>)| {
                let plain = (0..n).filter(|&e| plainly_writes(e) && all[e].2.at == *at);
                let plain = plain.clone().find(|&e| !plain.clone().any(|z| located(e, z)));
                (*at, order.last().copied().or(plain).map_or(0, |e| value[e].unwrap().1))
            };
            found.insert(Some((read, names.iter().zip(&order).map(last).collect())));
        }
    }
    found
}

/// Parses a program. A word is an instruction. `|` separates agents of one workgroup, and `||`
/// separates workgroups. `x=1` stores, `x=1.` stores 1 more than the last number that was read, `x`
/// loads, and `x+1` adds. `d:=1` and `d:` are plain. `.acq`, `.rel` and `.both` order all classes;
/// a word with nothing else is a fence. `@W` is another scope than the device's.
fn parse(text: &str) -> Program {
    let mut program = Program::new();
    for (group, part) in text.split("||").enumerate() {
        for (local, thread) in part.split('|').enumerate() {
            program.push((4 * group as u32 + local as u32, thread.split_whitespace().map(instruction).collect()));
        }
    }
    program
}

fn instruction(word: &str) -> Instruction {
    let (word, scope) = word.split_once('@').unwrap_or((word, "D"));
    let scope = match scope {
        "I" => Scope::Invocation,
        "S" => Scope::Subgroup,
        "W" => Scope::Workgroup,
        "Q" => Scope::QueueFamily,
        _ => Scope::Device,
    };
    let (word, ordering) = word.split_once('.').filter(|(_, rest)| !rest.is_empty()).unwrap_or((word, ""));
    let ordering = match ordering {
        "acq" => Ordering::Acquire,
        "rel" => Ordering::Release,
        "both" => Ordering::AcquireRelease,
        _ => Ordering::Relaxed,
    };
    let classes: &[Class] = if ordering == Ordering::Relaxed { &[] } else { &[Class::Uniform, Class::Workgroup] };
    let at = word.chars().next().unwrap_or('f');
    let number = || word.trim_end_matches('.').trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0);
    let op = match word {
        "" => Op::Fence,
        _ if word.ends_with(':') => Op::PlainLoad,
        _ if word.contains(":=") => Op::PlainStore(number()),
        _ if word.contains('=') => Op::Store(number(), word.ends_with('.')),
        _ if word.contains('+') => Op::Add(number()),
        _ => Op::Load,
    };
    Instruction { op, at, scope, semantics: Semantics::of(ordering, classes) }
}

/// Name, program, the numbers that are read, agent after agent, and whether the model allows that.
/// If nothing is read, the numbers are memory at the end.
const LITMUS: &[(&str, &str, &[u64], bool)] = &[
    ("message passing, relaxed", "x=1 y=1 | y x", &[1, 0], true),
    ("message passing, only released", "x=1 y=1.rel | y x", &[1, 0], true),
    ("message passing, only acquired", "x=1 y=1 | y.acq x", &[1, 0], true),
    ("message passing, released and acquired", "x=1 y=1.rel | y.acq x", &[1, 0], false),
    ("message passing, fences", "x=1 .rel y=1 | y .acq x", &[1, 0], false),
    ("message passing, one fence", "x=1 .rel y=1 | y x", &[1, 0], true),
    ("message passing, workgroup scope in a workgroup", "x=1@W y=1.rel@W | y.acq@W x@W", &[1, 0], false),
    ("message passing, subgroup scope in a subgroup", "x=1 y=1.rel@S | y.acq@S x", &[1, 0], false),
    ("message passing, between workgroups", "x=1 y=1.rel || y.acq x", &[1, 0], false),
    ("message passing, queue family scope between workgroups", "x=1 y=1.rel@Q || y.acq@Q x", &[1, 0], false),
    ("message passing, fences of a workgroup between workgroups", "x=1 .rel@W y=1 || y .acq@W x", &[1, 0], true),
    ("message passing, fences of a workgroup within one", "x=1 .rel@W y=1 | y .acq@W x", &[1, 0], false),
    ("message passing through an addition", "x=1 y=1.rel | y+1 | y.acq x", &[1, 2, 0], false),
    ("message passing through a store", "x=1 y=1.rel | y y=2 | y.acq x", &[1, 2, 0], true),
    ("message passing of plain data", "d:=1 y=1.rel | y.acq", &[1], true),
    ("store buffering, relaxed", "x=1 y | y=1 x", &[0, 0], true),
    ("store buffering, releases and acquires", "x=1.rel y.acq | y=1.rel x.acq", &[0, 0], true),
    ("store buffering, fences", "x=1 .both y | y=1 .both x", &[0, 0], true),
    ("store buffering, additions that release and acquire", "x+1.both y+0.both | y+1.both x+0.both", &[0, 0, 0, 0], false),
    ("store buffering, relaxed additions", "x+1 y+0 | y+1 x+0", &[0, 0, 0, 0], true),
    ("store buffering, one location", "x=1 x | x=2 x", &[2, 1], false),
    ("store buffering between workgroups", "x=1 y || y=1 x", &[0, 0], true),
    ("load buffering, relaxed", "x y=1 | y x=1", &[1, 1], true),
    ("load buffering, between workgroups", "x y=1 || y x=1", &[1, 1], true),
    ("load buffering, one side copies", "x y=. | y x=1", &[1, 1], true),
    ("load buffering, both copy: out of thin air", "x y=. | y x=.", &[1, 1], false),
    ("load buffering, one counts", "x y=1. | y x=1", &[1, 2], true),
    ("load buffering, both count", "x y=1. | y x=1.", &[2, 2], false),
    ("load buffering, one side acquires", "x.acq y=1 | y x=1", &[1, 1], true),
    ("load buffering, released and acquired", "x y=1.rel | y.acq x=1", &[1, 1], false),
    ("load buffering, all release and acquire", "x.acq y=1.rel | y.acq x=1.rel", &[1, 1], false),
    ("load buffering, additions", "x+1 y+1 | y+1 x+1", &[1, 0, 1, 0], true),
    ("load buffering, fences that release and acquire", "x .both y=1 | y .both x=1", &[1, 1], false),
    ("two readers, relaxed", "x=1 | y=1 | x y | y x", &[1, 0, 1, 0], true),
    ("two readers that acquire", "x=1.rel | y=1.rel | x.acq y.acq | y.acq x.acq", &[1, 0, 1, 0], true),
    ("two readers with fences", "x=1 | y=1 | x .both y | y .both x", &[1, 0, 1, 0], true),
    ("two readers, one location", "x=1 | x=2 | x x | x x", &[1, 2, 2, 1], false),
    ("two readers between workgroups", "x=1 | y=1 || x y | y x", &[1, 0, 1, 0], true),
    ("2+2 writes, relaxed", "x=1 y=2 | y=1 x=2", &[1, 1], true),
    ("2+2 writes that release", "x=1 y=2.rel | y=1 x=2.rel", &[1, 1], true),
    ("2+2 writes, one location", "x=1 x=2", &[1], false),
    ("2+2 writes, additions that release and acquire", "x=1 y+2.both | y=1 x+2.both", &[0, 0], true),
    ("coherence, two reads", "x=1 | x x", &[1, 0], false),
    ("coherence, two reads forward", "x=1 | x x", &[0, 1], true),
    ("coherence, two reads of two writes", "x=1 x=2 | x x", &[2, 1], false),
    ("coherence, two reads of two writers, in either order", "x=1 | x=2 | x x", &[2, 1], true),
    ("coherence, two writes", "x=1 x=2", &[2], true),
    ("coherence, two writes seen by another", "x=1 x=2 | x x", &[1, 2], true),
    ("coherence, write then read", "x=1 x | x=2", &[2], true),
    ("coherence, write then read of the initial value", "x=1 x | x=2", &[0], false),
    ("coherence, write then reads of another's and one's own", "x=1 x x | x=2", &[2, 1], false),
    ("coherence, read then write", "x x=1 | x=2", &[1], false),
    ("coherence, read then write of another's", "x x=1 | x=2", &[2], true),
    ("coherence, read then write, seen by another", "x x=1 | x=2 | x x", &[2, 1, 2], false),
    ("coherence across workgroups", "x=1 || x x", &[1, 0], false),
    ("additions are not lost", "x+1 | x+1", &[0, 0], false),
    ("additions in either order", "x+1 | x+1", &[1, 0], true),
    ("nothing between what an addition reads and writes", "x+1 | x=5 | x x x", &[0, 5, 1, 0], false),
    ("writes to two locations seen by a third, relaxed", "x=1 | x y=1 | y x", &[1, 1, 0], true),
    ("writes to two locations seen by a third, in order", "x=1 | x y=1.rel | y.acq x", &[1, 1, 0], false),
    ("a release passed on", "x=1.rel | x.acq y=1.rel | y.acq x", &[1, 1, 0], false),
];

fn reads(shown: &Shown) -> Option<Vec<u64>> {
    let (read, memory) = shown.as_ref()?;
    let read = read.concat();
    Some(if read.is_empty() { memory.values().copied().collect() } else { read })
}

/// The litmus tests with a wrong answer by these rules, one a line.
fn wrong_litmus(rules: Rules) -> String {
    let mut wrong = String::new();
    for (name, text, expected, allowed) in LITMUS {
        let has = |all: &BTreeSet<Shown>| all.iter().any(|one| reads(one).as_deref() == Some(expected));
        if has(&shown(&parse(text), rules)) != *allowed {
            wrong += &format!("{name}: {text}: {expected:?} is {}\n", if *allowed { "allowed" } else { "forbidden" });
        }
    }
    wrong
}

/// Every litmus test, by both enumerators.
#[test]
fn litmus_tests_are_allowed_and_forbidden() {
    let mut wrong = wrong_litmus(Rules::MODEL);
    for (name, text, ..) in LITMUS {
        let program = parse(text);
        let (found, letter) = (shown(&program, Rules::MODEL), by_the_letter(&program));
        if found != letter {
            wrong += &format!("{name}: {text}: the enumerators differ\n  {found:?}\n  {letter:?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let allowed = LITMUS.iter().filter(|one| one.3).count();
    println!("{} litmus tests, {allowed} allowed and {} forbidden", LITMUS.len(), LITMUS.len() - allowed);
}

/// If plain accesses are not ordered, some execution has a race, and the enumerator finds it.
#[test]
fn races_are_found_in_any_execution() {
    for (text, races) in [
        ("d:=1 y=1.rel | y.acq", false),
        ("d:=1 y=1.rel | y.acq d:", true),
        ("d:=1 | d:", true),
        ("d: | d:", false),
        ("x=1@I | x", true),
        ("x=1@W || x@W", true),
        ("x=1@W | x@W", false),
    ] {
        assert_eq!(shown(&parse(text), Rules::MODEL).contains(&None), races, "{text}");
    }
}

fn any_instruction() -> impl Strategy<Value = Instruction> {
    let op = prop_oneof![
        6 => Just(Op::Load), 5 => (1u64..3).prop_map(|n| Op::Store(n, false)), 2 => (0u64..2).prop_map(|n| Op::Store(n, true)),
        3 => (0u64..2).prop_map(Op::Add), 1 => Just(Op::PlainLoad), 1 => (1u64..3).prop_map(Op::PlainStore), 2 => Just(Op::Fence)
    ];
    let scope =
        prop_oneof![8 => Just(Scope::Device), 3 => Just(Scope::Workgroup), 1 => Just(Scope::Subgroup), 1 => Just(Scope::QueueFamily)];
    let ordering = prop_oneof![
        4 => Just(Ordering::Relaxed), 1 => Just(Ordering::Acquire), 1 => Just(Ordering::Release), 2 => Just(Ordering::AcquireRelease)
    ];
    (op, 0u32..2, scope, ordering).prop_map(|(op, at, scope, ordering)| {
        let at = match op {
            Op::PlainLoad | Op::PlainStore(_) => 'd',
            _ => ['x', 'y'][at as usize],
        };
        let classes: &[Class] = if ordering == Ordering::Relaxed { &[] } else { &[Class::Uniform, Class::Workgroup] };
        Instruction { op, at, scope, semantics: Semantics::of(ordering, classes) }
    })
}

/// A few agents with a few instructions, or a litmus test with other scopes and semantics.
fn any_program() -> impl Strategy<Value = Program> {
    let some = prop::collection::vec((0usize..3, any_instruction()), 2..7).prop_map(|all| {
        let mut program: Program = [0, 1, 4].map(|agent| (agent, Vec::new())).to_vec();
        all.into_iter().for_each(|(thread, instruction)| program[thread].1.push(instruction));
        program.retain(|(_, own)| !own.is_empty());
        program
    });
    let like = (0..LITMUS.len(), prop::collection::vec(any_instruction(), 8), any::<bool>()).prop_map(|(which, other, apart)| {
        let mut program = parse(LITMUS[which].1);
        for ((_, own), k) in program.iter_mut().zip(0..) {
            for (instruction, l) in own.iter_mut().zip(0..) {
                let other = &other[(3 * k + l) % other.len()];
                if instruction.access(0).is_some_and(|access| matches!(access.kind, Kind::Atomic { .. })) {
                    (instruction.scope, instruction.semantics) = (other.scope, other.semantics);
                }
            }
        }
        if apart && let Some(last) = program.last_mut() {
            last.0 = 7;
        }
        program
    });
    prop_oneof![3 => some, 2 => like]
}

/// Compares the enumerators on that many random programs. Returns how many show something beyond
/// interleavings, and how many race.
fn compare(rules: Rules, cases: u32, seed: u8) -> Result<(u32, u32), String> {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 500, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]));
    let counts = std::cell::Cell::new((0, 0));
    let result = runner.run(&any_program(), |program| {
        let (found, letter) = (shown(&program, rules), by_the_letter(&program));
        // If there is a race, nothing else counts.
        let (raced, expected) = (found.contains(&None), letter.contains(&None));
        if raced != expected || !raced && found != letter {
            return Err(TestCaseError::fail(format!("{program:?}:\n  {found:?}\n  {letter:?}")));
        }
        let (weak, races) = counts.get();
        let beyond = !raced && found != interleaved(&program);
        counts.set((weak + u32::from(beyond), races + u32::from(raced)));
        Ok(())
    });
    result.map(|()| counts.get()).map_err(|e| match e {
        TestError::Fail(reason, _) => reason.to_string(),
        abort => abort.to_string(),
    })
}

/// All results of the interleavings of a program.
fn interleaved(program: &Program) -> BTreeSet<Shown> {
    let mut found = BTreeSet::new();
    let mut stack = vec![Run::new(program)];
    while let Some(run) = stack.pop() {
        let ready = run.ready();
        if ready.is_empty() {
            found.insert(run.shown());
        }
        stack.extend(ready.into_iter().map(|agent| {
            let mut next = run.clone();
            next.step(agent);
            next
        }));
    }
    found
}

#[test]
fn the_enumerators_agree() {
    let cases = 1_500;
    let (weak, races) = compare(Rules::MODEL, cases, 1).unwrap_or_else(|e| panic!("{e}"));
    println!("{cases} programs, {weak} show more than interleavings, {races} race");
    assert!(weak > cases / 10 && races > cases / 20 && races < cases / 2, "{weak} weak and {races} racing of {cases}");
}

/// The litmus tests or the comparison must catch an axiom that is left out, and one that is
/// too much.
#[test]
fn every_planted_axiom_is_caught() {
    let model = Rules::MODEL;
    let bugs: &[(&str, Rules)] = &[
        (
            "two reads need not be coherent",
            Rules { coherent: |a, b| a.write.is_none() && b.write.is_none() || (Rules::MODEL.coherent)(a, b), ..model },
        ),
        (
            "a write and a read need not be coherent",
            Rules { coherent: |a, b| a.read.is_none() && b.write.is_none() || (Rules::MODEL.coherent)(a, b), ..model },
        ),
        (
            "a read and a write need not be coherent",
            Rules { coherent: |a, b| a.write.is_none() && b.read.is_none() || (Rules::MODEL.coherent)(a, b), ..model },
        ),
        (
            "two writes need not be coherent",
            Rules { coherent: |a, b| a.read.is_none() && b.read.is_none() || (Rules::MODEL.coherent)(a, b), ..model },
        ),
        ("a read-modify-write reads any earlier write", Rules { adjacent: |read, write| read < write, ..model }),
        ("a location holds what was written last", Rules { coherent: |a, b| a.write.max(a.read) < b.write.max(b.read), ..model }),
        ("nothing releases", Rules { releases: |_, _| false, ..model }),
        ("nothing acquires", Rules { acquires: |_, _| false, ..model }),
        ("nothing continues a release sequence", Rules { continues: |_| false, ..model }),
        ("stores continue a release sequence", Rules { continues: |op| op != AtomicOp::Load, ..model }),
        ("either scope is enough", Rules { common: |a, b| a.max(b), ..model }),
        ("fences pair with nothing", Rules { fence_covers: |_, _| false, ..model }),
    ];
    let missed: Vec<&str> = bugs
        .iter()
        .filter(|(_, rules)| wrong_litmus(*rules).is_empty() && compare(*rules, 1_500, 2).is_ok())
        .map(|(name, _)| *name)
        .collect();
    assert!(missed.is_empty(), "not caught: {missed:?}");
}
