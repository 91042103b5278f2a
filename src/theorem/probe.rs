//! Which subexpression a device gets wrong, found by asking the
//! device again (architecture, "Blame").
//!
//! The SPIR-V relation runs the pixel that differs and lists every computation of it: which id,
//! which execution of it, what value. For one of them, the pass
//! [`compile::probe`](crate::compile::probe) makes a module that shows its value beside (or, where
//! there is no room for another output, in place of) what the program shows, and the device draws
//! that. So each question costs one dispatch, and the first wrong answer is found by bisection.
//! Right and wrong need not follow each other in order: a wrong value may do no harm. So a culprit
//! counts only when the operands that it was computed from, and the conditions that led to it, are
//! right; else the search goes on below the wrong one.
//!
//! Invariants: the words that are compared are the adapted ones, by hash, and what is expected of
//! them is what the interpreter makes of them, which must be what it makes of the original words.
//! Only lanes that are decided under the profile convict. Where the definite value of the lane that
//! differs is the only one, a computation of which that cannot be said is never asked for. Where a
//! run over sets says what the lane must show, every computation is asked for, and one of which
//! nothing is known counts as right: then the culprit is the first that is outside of its own set,
//! though it may be right and an operand wrong in a way that the operand's set does not show.

mod trace;

use super::blame::{Blame, instruction_text};
use super::case::{Case, Settings, target_fuel};
use super::{Place, expected_text, float_text};
use crate::compile::lambda_v as translation;
use crate::compile::probe::{self as pass, Probe};
use crate::dispatch::{FragmentDispatch, Target, words_hash};
use crate::gpu::{Device, DeviceOutcome};
use rustc_hash::FxHashMap;
use smallstep_semantics::lambda_v::resolve::MAX_LOCATION;
use smallstep_semantics::lambda_v::syntax::Span;
use smallstep_semantics::number::{Expected, Lane, Profile};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::operation::Scalar;
use smallstep_semantics::spirv::{self, Inputs};
use std::sync::Arc;
use trace::{Computed, Trace};

/// The most dispatches of one search.
const MAX_DISPATCHES: u32 = 256;

/// What draws the programs that ask: a device, or whatever a test has in its place.
pub trait Drawer {
    /// Draws one program.
    fn draw(&mut self, dispatch: FragmentDispatch) -> DeviceOutcome;

    /// How many outputs a program may have.
    fn max_outputs(&self) -> u32;
}

impl Drawer for Device {
    fn draw(&mut self, dispatch: FragmentDispatch) -> DeviceOutcome {
        Device::run(self, dispatch).outcome
    }

    fn max_outputs(&self) -> u32 {
        self.adapter().max_color_attachments.min(self.adapter().max_color_attachment_bytes_per_sample / 16)
    }
}

/// Why a search named no culprit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Unblamed {
    /// Where intermediate values are stored, the device computes what it should: what is wrong with
    /// the program comes about only unobserved.
    Vanishes {
        /// How often the device was asked.
        dispatches: u32,
    },
    /// The search could not be ended.
    Unknown {
        /// Why, in a sentence.
        why: String,
        /// How often the device was asked.
        dispatches: u32,
    },
}

impl std::error::Error for Unblamed {}

impl std::fmt::Display for Unblamed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unblamed::Vanishes { dispatches } => write!(f, "the disagreement vanishes under observation ({dispatches} dispatches)"),
            Unblamed::Unknown { why, dispatches } => write!(f, "no subexpression could be named: {why} ({dispatches} dispatches)"),
        }
    }
}

/// The first subexpression that a device computes differently on the pixel of `place`, which
/// differs there in a decided lane.
///
/// `settings` are those that the case was made with.
pub fn on_device(case: &Case, place: Place, settings: &Settings, device: &mut dyn Drawer) -> Result<Blame, Unblamed> {
    let unknown = |why: String| Unblamed::Unknown { why, dispatches: 0 };
    let translated = case.witnessed(settings).map_err(|e| unknown(e.to_string()))?;
    if words_hash(&translated.words) != case.words_hash {
        return Err(unknown("the program translates to other words than the ones that differ".into()));
    }
    let buffers = case.buffers();
    let frag_coord = case.setting(place.pixel, settings).frag_coord.map(Lane::float);
    let inputs = Inputs { frag_coord, buffers: &buffers };
    let fuel = target_fuel(settings.fuel, translated.instructions);
    let mut trace = Trace::record(case.module(), translated.entry, &inputs, fuel, settings).map_err(unknown)?;
    let at =
        trace.outputs.written.iter().take_while(|(location, _)| *location != place.location).map(|(_, lanes)| lanes.len()).sum::<usize>();
    let observation = case.explore(&trace.outputs, &inputs, fuel, settings);
    let settled = *observation.expected.get(at + place.component as usize).ok_or_else(|| unknown("the output is never stored".into()))?;
    let lane = trace.outputs.at(place.location).and_then(|lanes| lanes.get(place.component as usize));
    let over_sets = lane.is_none_or(|lane| matches!(lane.judge(settings.profile), Expected::Undecided(_)));
    if over_sets {
        trace.take_all();
    }
    let used: Vec<u32> = case.translated.outputs.iter().map(|t| t.location).collect();
    let room = (used.len() as u32) < device.max_outputs();
    let free = (0..MAX_LOCATION).find(|l| !used.contains(l)).filter(|_| room);
    let search = Search {
        case,
        settings,
        device,
        place,
        trace: &trace,
        settled,
        over_sets,
        translated: &translated,
        inputs: &inputs,
        fuel,
        location: free.unwrap_or(place.location),
        loops: case.module().instructions().iter().any(|i| i.is(Op::LoopMerge)),
        answers: FxHashMap::default(),
        dispatches: 0,
    };
    search.run()
}

/// What the device said of one computation.
#[derive(Clone, Debug)]
struct Answer {
    /// What is wrong about it; none if it is right.
    wrong: Option<Wrong>,
    /// Whether the lane that differs was still wrong when this was asked; none if it
    /// could not be seen.
    still: Option<bool>,
}

#[derive(Clone, Debug)]
struct Wrong {
    expected: String,
    found: String,
    never_computed: bool,
}

struct Search<'a> {
    case: &'a Case,
    settings: &'a Settings,
    device: &'a mut dyn Drawer,
    place: Place,
    trace: &'a Trace,
    /// What the lane that differs must show.
    settled: Expected,
    /// Whether a run over sets says so, and not the definite value alone.
    over_sets: bool,
    translated: &'a translation::Module,
    inputs: &'a Inputs<'a>,
    fuel: u64,
    /// Where values are shown.
    location: u32,
    /// Whether the module has loops: a device that is wrong may execute often what should be
    /// executed once.
    loops: bool,
    /// By index in the trace.
    answers: FxHashMap<usize, Answer>,
    dispatches: u32,
}

type Searched<T> = Result<T, String>;

impl Search<'_> {
    fn run(mut self) -> Result<Blame, Unblamed> {
        match self.search() {
            Ok(Some(blame)) => Ok(blame),
            Ok(None) => Err(Unblamed::Vanishes { dispatches: self.dispatches }),
            Err(why) => Err(Unblamed::Unknown { why, dispatches: self.dispatches }),
        }
    }

    /// The culprit, or none if the disagreement vanishes.
    fn search(&mut self) -> Searched<Option<Blame>> {
        let trace = self.trace;
        let (stored, store) = trace.stores.get(&self.place.location).copied().ok_or("the output is never stored")?;
        let Some(last) = trace.last(stored, store).filter(|&i| trace.computed[i].decided) else {
            return Err(format!("%{stored}, which is stored, is no computation with a decided value"));
        };
        let answer = self.ask(last)?;
        if answer.wrong.is_none() {
            return Ok(match answer.still {
                Some(true) => Some(self.blame_store(stored)),
                _ => None,
            });
        }
        let mut wrong = last;
        loop {
            wrong = self.bisect(wrong)?;
            let mut vanished = false;
            let mut below = None;
            let mut causes = trace.operands(wrong);
            // Bisection can pass a condition by: once control has gone another way, later values
            // may be right by chance.
            causes.extend(trace.decisions(wrong));
            for operand in causes {
                let answer = self.ask(operand)?;
                vanished |= answer.wrong.is_none() && answer.still == Some(false);
                if answer.wrong.is_some() {
                    below = Some(operand);
                    break;
                }
            }
            match below {
                Some(operand) => wrong = operand,
                // An operand was right only because it was looked at.
                None if vanished => return Ok(None),
                None => return self.blame(wrong).map(Some),
            }
        }
    }

    /// A computation that is wrong where the one before it (of those that can be asked for) is
    /// right; `wrong` is known to be wrong.
    fn bisect(&mut self, wrong: usize) -> Searched<usize> {
        let decided = &self.trace.decided;
        let mut high = decided.partition_point(|&i| i < wrong);
        let mut low = 0;
        // Everything below `low` counts as right, decided[high] is wrong.
        while low < high {
            let middle = low + (high - low) / 2;
            match self.ask(decided[middle])?.wrong {
                Some(_) => high = middle,
                None => low = middle + 1,
            }
        }
        Ok(decided[high])
    }

    fn ask(&mut self, index: usize) -> Searched<Answer> {
        if let Some(answer) = self.answers.get(&index) {
            return Ok(answer.clone());
        }
        let computed = self.trace.computed[index];
        let columns = u32::from(self.case.module().shape(computed.id).columns);
        let mut answer = Answer { wrong: None, still: None };
        for column in 0..columns {
            let one = self.ask_column(&computed, column)?;
            answer.still = one.still;
            answer.wrong = one.wrong.map(|w| match columns {
                1 => w,
                _ => Wrong { expected: format!("column {column}: {}", w.expected), found: format!("column {column}: {}", w.found), ..w },
            });
            if answer.wrong.is_some() {
                break;
            }
        }
        self.answers.insert(index, answer.clone());
        Ok(answer)
    }

    fn ask_column(&mut self, computed: &Computed, column: u32) -> Searched<Answer> {
        if self.dispatches >= MAX_DISPATCHES {
            return Err(format!("the device was asked {MAX_DISPATCHES} times"));
        }
        let shape = self.case.module().shape(computed.id);
        let rows = usize::from(shape.rows);
        let (truth, from) = (shape.scalar == Scalar::Bool, rows * column as usize);
        let traced: Vec<u32> = self.trace.bits(computed)[from..from + rows].iter().map(|&b| if truth { as_float(b) } else { b }).collect();
        let probe = Probe {
            id: computed.id,
            occurrence: self.loops.then_some(computed.occurrence),
            column,
            shown: pass::Shown::Output(self.location),
            counts_in_floats: true,
            marker: marker(&traced),
        };
        let words = pass::adapt(self.case.module(), self.translated.entry, &probe).map_err(|e| e.to_string())?;
        let expected = self.expected(&words, &traced)?;
        if self.over_sets && expected.iter().all(|e| matches!(e, Expected::Undecided(_))) {
            return Ok(Answer { wrong: None, still: None });
        }

        let mut dispatch = self.case.dispatch(self.settings.size);
        dispatch.words = Arc::from(words);
        let own = dispatch.outputs.iter().position(|t| t.location == self.place.location).ok_or("the output is none of the program's")?;
        let beside = self.location != self.place.location;
        if beside {
            dispatch.outputs.push(Target { location: self.location, components: 4 });
        }
        let hash = dispatch.words_hash();
        let shown = if beside { dispatch.outputs.len() - 1 } else { own };
        let (x, y) = self.place.pixel;
        let pixel = y as usize * self.settings.size.0 as usize + x as usize;
        self.dispatches += 1;
        let frame = match self.device.draw(dispatch) {
            DeviceOutcome::Drawn(frame) if frame.words_hash == hash => frame,
            DeviceOutcome::Drawn(_) => return Err("the device drew other words than it was given".into()),
            other => return Err(format!("a module that shows %{} was not drawn: {other}", computed.id)),
        };
        let lanes = |image: usize| frame.images.get(image).and_then(|i| i.get(pixel)).ok_or("the frame lacks the pixel");
        let found = lanes(shown)?;
        let still = match beside {
            true => self.settled.admits(lanes(own)?[self.place.component as usize]).map(|admitted| !admitted),
            false => None,
        };
        let differs = expected.iter().zip(found).any(|(e, &f)| e.admits(f) == Some(false));
        let wrong = differs.then(|| {
            let never_computed = found.iter().all(|&f| f == probe.marker);
            let text = |bits: u32| if truth { truth_text(bits) } else { float_text(bits) };
            let demanded = expected.iter().map(|&e| match e {
                Expected::Bits(bits) => text(bits),
                Expected::Zero => text(0),
                Expected::Within(_) if truth => "true or false".into(),
                other => expected_text(other),
            });
            Wrong {
                expected: demanded.collect::<Vec<_>>().join(", "),
                found: match never_computed {
                    true => "nothing: the device does not compute it".into(),
                    false => found[..rows].iter().map(|&f| text(f)).collect::<Vec<_>>().join(", "),
                },
                never_computed,
            }
        });
        Ok(Answer { wrong, still })
    }

    /// What a device must show of the adapted words, by the interpreter, which must make of them
    /// what it makes of the original ones.
    fn expected(&self, words: &[u32], traced: &[u32]) -> Searched<Vec<Expected>> {
        let refused = |e: spirv::LoadError| format!("the adapted module is refused: {e}");
        let module = spirv::Module::load(words).map_err(refused)?;
        let program = spirv::Program::compile(&module, self.translated.entry).map_err(refused)?;
        // Of each step of the original, the probe adds at most its own dozen.
        let outcome = program.run(self.inputs, self.fuel.saturating_mul(16), &self.settings.planted.target_arithmetic);
        let Outcome::Observed(outputs) = outcome else {
            return Err(format!("the adapted module ends as {}, the original does not", outcome.name()));
        };
        let lanes = outputs.at(self.location).ok_or("the adapted module does not show the value")?;
        let same = lanes.iter().map(|l| l.bits).zip(traced).all(|(a, &b)| a == b);
        let others = self.trace.outputs.written.iter().filter(|(location, _)| *location != self.location);
        let undisturbed = others.into_iter().all(|(location, lanes)| outputs.at(*location) == Some(lanes));
        if !same || !undisturbed {
            return Err("the interpreter makes of the adapted words something else than of the original ones".into());
        }
        let exploration = self.settings.exploration();
        let observation = program.explore(&outputs, self.inputs, self.fuel, &self.settings.planted.target_arithmetic, exploration);
        let at = outputs.written.iter().take_while(|(location, _)| *location != self.location).map(|(_, lanes)| lanes.len()).sum();
        Ok(observation.expected.into_iter().skip(at).take(traced.len()).collect())
    }

    fn blame(&mut self, index: usize) -> Searched<Blame> {
        let computed = self.trace.computed[index];
        let wrong = self.ask(index)?.wrong.ok_or("a culprit is wrong")?;
        let module = self.case.module();
        let instruction = module.instruction(computed.id).ok_or("a culprit is an instruction")?;
        let (expression, span, rule) = self.subexpression(computed.id);
        let mut text = instruction_text(module, instruction);
        if wrong.never_computed {
            text.push_str(", which control does not reach");
        }
        Ok(Blame {
            expression,
            span,
            id: computed.id,
            rule,
            instruction: text,
            step: computed.step,
            occurrence: u64::from(computed.occurrence),
            dispatches: self.dispatches,
            expected: wrong.expected,
            found: wrong.found,
        })
    }

    /// The value is right where it is computed, and the output still wrong.
    fn blame_store(&self, stored: u32) -> Blame {
        let (expression, span, _) = self.subexpression(stored);
        let trace = self.trace;
        Blame {
            expression,
            span,
            id: stored,
            rule: Rule::LvMcBody,
            instruction: "OpStore".into(),
            step: trace.stores.get(&self.place.location).map_or(0, |s| s.1),
            occurrence: 0,
            dispatches: self.dispatches,
            expected: expected_text(self.settled),
            found: "another value in the output, though the value stored is right".into(),
        }
    }

    /// The innermost subexpression whose value an id is, where it stands, and the rule that made
    /// the id.
    fn subexpression(&self, id: u32) -> (String, Span, Rule) {
        let terms = &self.translated.terms;
        if let Some(w) = self.translated.witness_of(id) {
            return (self.translated.expression(w.term, &self.case.program.symbols, 200), terms.span(w.term), w.rule);
        }
        // Ids without a subexpression: the padding of outputs, and the OpPhi that carry the
        // arguments of rec back.
        let outputs = &self.case.program.outputs;
        let output = outputs.iter().find(|o| o.location == self.place.location).unwrap_or(&outputs[0]);
        let span = self.case.program.terms.span(output.term);
        match self.case.module().instruction(id).is_some_and(|i| i.is(Op::Phi)) {
            true => ("an argument of rec".into(), span, Rule::LvTrRecFunc),
            false => (format!("output {}, padded", self.place.location), span, Rule::LvMcBody),
        }
    }
}

/// A Boolean's bits as those of the float that the probe shows.
fn as_float(truth: u32) -> u32 {
    if truth == 0 { 0 } else { 1.0f32.to_bits() }
}

fn truth_text(bits: u32) -> String {
    match f32::from_bits(bits) {
        0.0 => "false".into(),
        1.0 => "true".into(),
        _ => format!("neither true nor false, {}", float_text(bits)),
    }
}

/// Bits of an ordinary float that none of the lanes has.
fn marker(lanes: &[u32]) -> u32 {
    let candidates = (0..=lanes.len() as u32).map(|n| (-1234.5f32 - n as f32).to_bits());
    candidates.into_iter().find(|c| !lanes.contains(c)).unwrap_or(0)
}

/// Whether a lane convicts: what it must be is decided.
fn is_decided(lane: Lane, truth: bool, profile: Profile) -> bool {
    match truth {
        true => lane.trust.is_decided(profile),
        false => !matches!(lane.judge(profile), Expected::Undecided(_)),
    }
}
