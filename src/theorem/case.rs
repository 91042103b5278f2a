//! One λV program through both semantics. It is typed, translated and loaded. The source and the
//! target run on each pixel, and their values are compared.

use super::acceptance::Acceptance;
use super::blame;
use super::{Difference, Engine, Place, Verdict, expected_text, value_text};
use crate::compile::lambda_v::{self as translation, Constants, Module as Translated, Untranslatable};
use crate::dispatch::{FragmentDispatch, words_hash};
use smallstep_semantics::lambda_v::machine::{self, Bounds, Sharing};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::{Reduction, Setting, Strategy, Theorem, frag_coord};
use smallstep_semantics::lambda_v::terms::TermId;
use smallstep_semantics::lambda_v::types::Value;
use smallstep_semantics::lambda_v::typing::{self, Derivation, TypeError};
use smallstep_semantics::lambda_v::{step, typing as lv_typing};
use smallstep_semantics::number::sets::{Budget, Exploration, Observation, Rules as SetRules, Site, Unsettled};
use smallstep_semantics::number::{Arithmetic, Expected, Lane, Profile};
use smallstep_semantics::outcome::{Outcome, TimeLimit};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv;
use std::sync::Arc;

/// Mistakes that tests plant in one engine or another.
#[derive(Clone, Default)]
pub struct Planted {
    /// In typing.
    pub typing: lv_typing::Planted,
    /// In the λV relation.
    pub reduction: step::Planted,
    /// In the arithmetic of both λV engines.
    pub source_arithmetic: Arithmetic,
    /// In the translation.
    pub translation: translation::Planted,
    /// In the rules of the SPIR-V relation.
    pub relation: Option<spirv::Rules>,
    /// In the arithmetic of both SPIR-V engines.
    pub target_arithmetic: Arithmetic,
    /// In the λV machine's runs over sets.
    pub source_sets: SetRules,
    /// In the SPIR-V machine's runs over sets.
    pub target_sets: SetRules,
}

/// The settings by which a program is judged.
#[derive(Clone)]
pub struct Settings {
    /// The float controls that the module declares. Results are judged by them too.
    pub profile: Profile,
    /// The placement of constants.
    pub constants: Constants,
    /// The theorem, which selects the reduction of the source.
    pub theorem: Theorem,
    /// The width and height in pixels.
    pub size: (u32, u32),
    /// The most steps of the source on one pixel.
    pub fuel: u64,
    /// The time at which runs of the source end. `None`: no time limit.
    pub time: Option<TimeLimit>,
    /// Whether the relations and the derivation check run beside the machines.
    pub references: bool,
    /// The bounds of a derivation.
    pub limits: typing::Limits,
    /// The budget of the runs over sets, for one pixel.
    pub budget: Budget,
    /// Planted mistakes.
    pub planted: Planted,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            profile: Profile::Strict,
            constants: Constants::InModule,
            theorem: Theorem::Corrected,
            size: (4, 4),
            fuel: 200_000,
            time: None,
            references: true,
            limits: typing::Limits::default(),
            budget: Budget::default(),
            planted: Planted::default(),
        }
    }
}

impl Settings {
    /// These settings without a time limit.
    pub fn untimed(&self) -> Settings {
        Settings { time: None, ..self.clone() }
    }

    /// The bounds and rules of runs over sets, without a planted mistake.
    pub fn exploration(&self) -> Exploration {
        Exploration { profile: self.profile, budget: self.budget, rules: SetRules::default() }
    }
}

/// The most steps of the source for which the relations also run. They are slow: each step builds
/// a term.
pub const REFERENCE_STEPS: u64 = 20_000;

/// The target's fuel if the source took so many steps: 16 rule applications for each step, and
/// every instruction of the module once more.
///
/// One step of the source costs the target at most a selection (merge, branch, branch, phi), or one
/// round of a loop (two groups of phis, a merge, three branches).
pub fn target_fuel(source_steps: u64, instructions: usize) -> u64 {
    source_steps.saturating_add(16).saturating_mul(16).saturating_add(instructions as u64)
}

/// A program that was typed, translated and loaded.
pub struct Case {
    /// The program.
    pub program: Program,
    /// Its derivation.
    pub derivation: Derivation,
    /// Its translation.
    pub translated: Translated,
    /// The hash of the module's words.
    pub words_hash: u64,
    loaded: spirv::Module,
    compiled: spirv::Program,
}

/// Why a program makes no case.
pub enum NoCase {
    /// The program is ill typed.
    IllTyped(TypeError),
    /// The verdict is already known: the translation or the loader refused a well-typed program, or
    /// a limit was reached.
    Decided(Verdict),
}

/// The result of both semantics for a program.
pub struct Ran {
    /// The verdict of the comparison.
    pub verdict: Verdict,
    /// What a device must show: for each output, for each pixel, its components. Empty unless the
    /// verdict is agreement.
    pub expected: Vec<Vec<[Expected; 4]>>,
    /// The bits that the target shows, in the same order.
    pub shown: Vec<Vec<[u32; 4]>>,
    /// Why a run over sets left a pixel undecided, for the first such pixel: a sentence with the
    /// place and the subexpression of the source.
    pub undecided: Option<String>,
    /// How tightly the components are bounded.
    pub acceptance: Acceptance,
    /// The number of steps of the source over all pixels.
    pub steps: u64,
    /// The number of pixels on which the relations also ran.
    pub referenced: u64,
    /// The rules of λV reduction and of SPIR-V that the relations applied, sorted.
    pub rules: Vec<Rule>,
}

impl Case {
    /// Types, translates and loads a program.
    pub fn new(program: Program, settings: &Settings) -> Result<Case, NoCase> {
        let planted = &settings.planted;
        let derivation = typing::infer_planted(&program, settings.limits, planted.typing).map_err(|e| match e {
            TypeError::Limit { limit, .. } => NoCase::Decided(Verdict::Limit(format!("typing gave up: {limit}"))),
            e => NoCase::IllTyped(e),
        })?;
        if settings.references
            && let Err(e) = typing::check(&derivation)
        {
            let what = format!("{}, node {}: {}", e.rule, e.node, e.message);
            return Err(NoCase::Decided(Difference::of(Engine::DerivationCheck, Engine::Typing, what)));
        }
        let options = translation::Options {
            profile: settings.profile,
            constants: settings.constants,
            planted: planted.translation,
            ..translation::Options::default()
        };
        let translated = translation::translate(&program, &options).map_err(|e| {
            NoCase::Decided(match e {
                Untranslatable::Limit(limit) => Verdict::Limit(format!("the translation gave up: {limit}")),
                e => Difference::of(Engine::Typing, Engine::Translation, format!("a well-typed program is refused: {e}")),
            })
        })?;
        let refused = |e: spirv::LoadError| {
            NoCase::Decided(Difference::of(Engine::Translation, Engine::Module, format!("the translated module is refused: {e}")))
        };
        let loaded = spirv::Module::load(&translated.words).map_err(refused)?;
        let compiled = spirv::Program::compile(&loaded, translated.entry).map_err(refused)?;
        // The interpreters cannot see whether the words declare the profile by which lanes
        // are judged.
        let entry = loaded.entry_point(translated.entry).map_err(refused)?;
        if !loaded.declares(entry, settings.profile) {
            let declared = loaded.profile(entry);
            let what = format!("the translated module declares the {declared:?} profile; {:?} was asked for", settings.profile);
            return Err(NoCase::Decided(Difference::of(Engine::Translation, Engine::Module, what)));
        }
        let words_hash = words_hash(&translated.words);
        Ok(Case { program, derivation, translated, words_hash, loaded, compiled })
    }

    /// The dispatch of the translated program.
    pub fn dispatch(&self, size: (u32, u32)) -> FragmentDispatch {
        FragmentDispatch {
            words: Arc::from(self.translated.words.as_slice()),
            entry: self.translated.entry.into(),
            width: size.0,
            height: size.1,
            outputs: self.translated.outputs.clone(),
            constants: self.translated.constants.clone(),
        }
    }

    /// The loaded module.
    pub fn module(&self) -> &spirv::Module {
        &self.loaded
    }

    /// The buffers of the dispatch: the constant buffer, if there are constants.
    pub fn buffers(&self) -> Vec<spirv::Buffer> {
        match self.translated.constants.is_empty() {
            true => Vec::new(),
            false => vec![spirv::Buffer { set: 0, binding: 0, bytes: spirv::bytes_of_words(&self.translated.constants) }],
        }
    }

    /// Runs both semantics on every pixel.
    pub fn run(&self, settings: &Settings) -> Ran {
        let mut ran = Ran {
            verdict: Verdict::Agree,
            expected: Vec::new(),
            shown: vec![Vec::new(); self.program.outputs.len()],
            undecided: None,
            acceptance: Acceptance::default(),
            steps: 0,
            referenced: 0,
            rules: Vec::new(),
        };
        let outputs = self.program.outputs.len();
        let mut expected: Vec<Vec<[Expected; 4]>> = vec![Vec::with_capacity((settings.size.0 * settings.size.1) as usize); outputs];
        let buffers = self.buffers();
        let mut registers = spirv::Registers::default();
        for y in 0..settings.size.1 {
            for x in 0..settings.size.0 {
                let verdict = self.pixel((x, y), settings, &buffers, &mut registers, &mut expected, &mut ran);
                ran.verdict = std::mem::replace(&mut ran.verdict, Verdict::Agree).worse(verdict);
                // With call by name a program may take exponentially many steps, and only the
                // relation runs it. If the fuel is exhausted on one pixel, every other pixel would
                // cost as much.
                let exhausted = settings.theorem == Theorem::Printed && matches!(ran.verdict, Verdict::Limit(_));
                if exhausted || matches!(ran.verdict, Verdict::Disagree(_)) {
                    return ran;
                }
            }
        }
        match ran.verdict == Verdict::Agree {
            true => ran.expected = expected,
            false => ran.shown.clear(),
        }
        ran.rules.sort();
        ran.rules.dedup();
        ran
    }

    /// Compares the semantics on one pixel. The components that a device must show are added
    /// to `expected`.
    fn pixel(
        &self,
        pixel: (u32, u32),
        settings: &Settings,
        buffers: &[spirv::Buffer],
        registers: &mut spirv::Registers,
        expected: &mut [Vec<[Expected; 4]>],
        ran: &mut Ran,
    ) -> Verdict {
        if let Some(limit) = TimeLimit::passed(settings.time) {
            return Verdict::Limit(format!("at pixel {pixel:?}: {limit}"));
        }
        let setting = self.setting(pixel, settings);
        let mut values: Vec<Value> = Vec::with_capacity(self.program.outputs.len());
        let mut steps = 0;
        for output in &self.program.outputs {
            let (outcome, took) = self.source(output.term, &setting, settings);
            steps += took;
            match outcome {
                Outcome::Observed(value) => values.push(value),
                Outcome::Diverges(why) => return Verdict::Vacuous(format!("the source diverges at pixel {pixel:?}: {why}")),
                Outcome::OutOfFuel => {
                    return Verdict::Limit(format!("the source took more than {} steps at pixel {pixel:?}", settings.fuel));
                }
                Outcome::Limit(limit) => return Verdict::Limit(format!("the source, at pixel {pixel:?}: {limit}")),
                Outcome::Stuck(stuck) => {
                    let what = format!("a well-typed program is stuck, at {}: {}", stuck.at, stuck.why);
                    return Difference::of(Engine::Typing, Engine::Machine, what);
                }
                other => return Difference::of(Engine::Typing, Engine::Machine, format!("the source ends as {}", other.name())),
            }
        }
        ran.steps += steps;
        let inputs = spirv::Inputs { frag_coord: setting.frag_coord.map(Lane::float), buffers };
        let (steps, ends) = match settings.theorem {
            Theorem::Corrected => (steps, Ends::Known),
            Theorem::Printed => self.by_value(&setting, settings, steps),
        };
        let fuel = target_fuel(steps, self.translated.instructions);
        let shown = self.compiled.run_in(registers, &inputs, &fuel.into(), &settings.planted.target_arithmetic);
        let shown = match shown {
            Outcome::Observed(shown) => shown,
            Outcome::OutOfFuel if ends == Ends::Unknown => {
                let what = format!(
                    "the translated program did not end within {fuel} steps at pixel {pixel:?}, and nothing proves that it never ends"
                );
                return Verdict::Limit(what);
            }
            other => return Difference::of(Engine::Machine, Engine::SpirvMachine, target_ending(pixel, &other, fuel)),
        };
        if let Some(mut difference) = self.compare(pixel, &values, &shown) {
            difference.blame = blame::in_semantics(self, pixel, settings);
            return Verdict::Disagree(Box::new(difference));
        }
        let context = PixelContext { pixel, settings, setting: &setting, inputs: &inputs, fuel };
        let observation = self.explore(&shown, &inputs, fuel, settings);
        if let Some(difference) = self.compare_sets(&context, &values, &shown, &observation) {
            return Verdict::Disagree(Box::new(difference));
        }
        for (i, (output, pixels)) in self.program.outputs.iter().zip(expected.iter_mut()).enumerate() {
            // `compare` has checked that every output is written, with four components.
            let first = 4 * index_of_output(&shown, output.location, i);
            let components: [Expected; 4] = std::array::from_fn(|c| observation.expected[first + c]);
            let cause = |c: usize| observation.unbounded.iter().find(|(i, _)| *i == first + c).map(|(_, cause)| cause);
            ran.acceptance.count(&components[..values[i].lanes.len()], observation.unsettled.is_some(), cause);
            pixels.push(components);
            let lanes = shown.at(output.location);
            ran.shown[i].push(std::array::from_fn(|c| lanes.map_or(0, |lanes| lanes[c].bits)));
        }
        if ran.undecided.is_none() {
            ran.undecided = observation.why(|id| self.site(id, settings)).map(|why| format!("{why}, at pixel {pixel:?}"));
        }
        if settings.references && steps <= REFERENCE_STEPS {
            ran.referenced += 1;
            return self.references(&context, &values, &shown, &observation, &mut ran.rules);
        }
        Verdict::Agree
    }

    /// Translates the program again, with the witness.
    ///
    /// Errors: a size limit.
    pub fn witnessed(&self, settings: &Settings) -> Result<Translated, Untranslatable> {
        let options = translation::Options {
            profile: settings.profile,
            constants: settings.constants,
            witness: true,
            planted: settings.planted.translation,
            ..translation::Options::default()
        };
        translation::translate(&self.program, &options)
    }

    /// The place in the source whose value a result id has, with the builtin that is applied there.
    /// If the witness does not know the id, the place is the id itself.
    fn site(&self, id: u32, settings: &Settings) -> Site {
        let Ok(module) = self.witnessed(settings) else { return Site::at(format!("%{id}")) };
        let Some(witness) = module.witness_of(id) else { return Site::at(format!("%{id}")) };
        let (line, column) = self.program.lines.at(module.terms.span(witness.term).start);
        Site {
            at: format!("{line}:{column}"),
            operation: module.applied(witness.term).map(|builtin| builtin.name().into()),
            expression: Some(module.expression(witness.term, &self.program.symbols, 80)),
        }
    }

    /// The setting in which the source runs on a pixel.
    pub fn setting(&self, pixel: (u32, u32), settings: &Settings) -> Setting {
        Setting {
            frag_coord: frag_coord(pixel.0, pixel.1),
            arithmetic: settings.planted.source_arithmetic,
            theorem: settings.theorem,
            planted: settings.planted.reduction,
            ..Setting::at_pixel(pixel.0, pixel.1)
        }
    }

    /// The source's value and its number of steps. The machine computes them. The printed theorem
    /// has no machine, so there the relation does.
    fn source(&self, e: TermId, setting: &Setting, &Settings { fuel, time, .. }: &Settings) -> (Outcome<Value>, u64) {
        match setting.theorem {
            Theorem::Corrected => machine::run(&self.program, e, setting, Bounds { fuel, time, ..Bounds::default() }),
            Theorem::Printed => {
                let mut steps = 0;
                let mut reduction = Reduction::new(&self.program, *setting).until(time);
                let outcome = reduction.run(e, Strategy::First, fuel, &mut |_, _, _| steps += 1);
                (outcome, steps)
            }
        }
    }

    /// Under the printed theorem the source may have a value after few steps, while an argument
    /// that it never uses takes many. The translation computes that argument. The result is the
    /// number of steps of a source that computes its arguments, at least `steps`, and whether the
    /// ending is known.
    fn by_value(&self, setting: &Setting, &Settings { fuel, time, .. }: &Settings, mut steps: u64) -> (u64, Ends) {
        let mut total = 0u64;
        for output in &self.program.outputs {
            let (outcome, took) = machine::run(&self.program, output.term, setting, Bounds { fuel, time, ..Bounds::default() });
            total = total.saturating_add(took);
            steps = steps.max(total);
            match outcome {
                Outcome::Observed(_) => {}
                Outcome::Diverges(_) => return (steps, Ends::Known),
                _ => return (steps, Ends::Unknown),
            }
        }
        (steps, Ends::Known)
    }

    /// The first lane in which the target's output is not the source's value, padded with zeros.
    fn compare(&self, pixel: (u32, u32), values: &[Value], shown: &spirv::Outputs) -> Option<Difference> {
        let between = || (Engine::Machine, Engine::SpirvMachine);
        for (output, value) in self.program.outputs.iter().zip(values) {
            let location = output.location;
            let place = |component| Some(Place { pixel, location, component });
            let Some(lanes) = shown.at(location) else {
                let what = "the translated program does not write this output".to_string();
                return Some(Difference { between: between(), place: place(0), bits: None, what, blame: None, unblamed: None });
            };
            let expected_bits = value.bits().chain(std::iter::repeat(0)).take(4);
            for (component, (expected, found)) in expected_bits.zip(lanes.iter().map(|l| l.bits)).enumerate() {
                if expected != found {
                    let what = format!("expected {}, saw {}", super::float_text(expected), super::float_text(found));
                    return Some(Difference {
                        between: between(),
                        place: place(component as u32),
                        bits: Some((expected, found)),
                        what,
                        blame: None,
                        unblamed: None,
                    });
                }
            }
            if lanes.len() != 4 {
                let what = format!("the output has {} components; it must be padded to 4", lanes.len());
                return Some(Difference { between: between(), place: place(0), bits: None, what, blame: None, unblamed: None });
            }
        }
        None
    }

    /// A component for which the target's set is not within the source's. Outputs that are not
    /// settled on both sides are skipped.
    fn compare_sets(
        &self,
        context: &PixelContext<'_>,
        values: &[Value],
        shown: &spirv::Outputs,
        target: &Observation,
    ) -> Option<Difference> {
        if target.ways == 0 || target.unsettled.is_some() || context.setting.theorem == Theorem::Printed {
            return None;
        }
        for (i, (output, value)) in self.program.outputs.iter().zip(values).enumerate() {
            let source = self.explore_source(output.term, value, context);
            if source.unsettled.is_some() {
                continue;
            }
            let found = &target.expected[4 * index_of_output(shown, output.location, i)..];
            for (component, (&expected, &found)) in source.expected.iter().zip(found).enumerate() {
                if !found.is_within(expected) {
                    return Some(Difference {
                        between: (Engine::Machine, Engine::SpirvMachine),
                        place: Some(Place { pixel: context.pixel, location: output.location, component: component as u32 }),
                        bits: None,
                        what: format!("over sets, expected {}, which does not allow {}", expected_text(expected), expected_text(found)),
                        blame: None,
                        unblamed: None,
                    });
                }
            }
        }
        None
    }

    /// What a device must show on a pixel on which the target shows `shown`: the components of all
    /// outputs, by ascending location.
    pub fn explore(&self, shown: &spirv::Outputs, inputs: &spirv::Inputs<'_>, fuel: u64, settings: &Settings) -> Observation {
        let exploration = Exploration { rules: settings.planted.target_sets, ..settings.exploration() };
        self.compiled.explore(shown, inputs, fuel, &settings.planted.target_arithmetic, exploration)
    }

    /// The values that an output of the source may have, by the machine over sets.
    fn explore_source(&self, e: TermId, value: &Value, context: &PixelContext<'_>) -> Observation {
        let bounds = Bounds { fuel: context.settings.fuel, ..Bounds::default() };
        let exploration = Exploration { rules: context.settings.planted.source_sets, ..context.settings.exploration() };
        machine::explore(&self.program, e, value, context.setting, bounds, exploration)
    }

    /// Compares the machines with the relations on one pixel. The rules that the relations apply
    /// are added to `rules`.
    fn references(
        &self,
        context: &PixelContext<'_>,
        values: &[Value],
        shown: &spirv::Outputs,
        observation: &Observation,
        rules: &mut Vec<Rule>,
    ) -> Verdict {
        for (output, value) in self.program.outputs.iter().zip(values) {
            let result = self.check_machine(output.term, value, context, rules);
            if let Err(what) = result.and_then(|()| self.check_machine_over_sets(output.term, value, context)) {
                return Difference::of(Engine::Reduction, Engine::Machine, what);
            }
        }
        let planted = &context.settings.planted;
        let rules_of_relation = planted.relation.clone().unwrap_or_else(spirv::Rules::standard);
        let relation = spirv::Relation::new(rules_of_relation, planted.target_arithmetic);
        let mut sink = |event: &spirv::Event<'_, '_>| rules.push(event.rule);
        let outcome = spirv::step::run(&self.loaded, self.translated.entry, context.inputs, context.fuel, &relation, &mut sink);
        let between = |what: String| Difference::of(Engine::SpirvRelation, Engine::SpirvMachine, what);
        match outcome {
            Err(e) => between(format!("the relation refuses the module: {e}")),
            Ok(Outcome::Observed(by_relation)) if by_relation == *shown => {
                if !context.affords(shown.steps, observation) {
                    return Verdict::Agree;
                }
                let entry = self.translated.entry;
                match spirv::step::explore(
                    &self.loaded,
                    entry,
                    shown,
                    context.inputs,
                    context.fuel,
                    &relation,
                    context.settings.exploration(),
                ) {
                    Err(e) => between(format!("the relation refuses the module: {e}")),
                    Ok(by_relation) if by_relation == *observation => Verdict::Agree,
                    Ok(by_relation) => between(format!("pixel {:?}: {}", context.pixel, observations_differ(&by_relation, observation))),
                }
            }
            Ok(Outcome::Observed(by_relation)) => between(format!("pixel {:?}: {}", context.pixel, outputs_differ(&by_relation, shown))),
            Ok(other) => between(target_ending(context.pixel, &other, context.fuel)),
        }
    }

    /// Compares the λV machine over sets with the relation over sets. The error says what differs.
    fn check_machine_over_sets(&self, e: TermId, value: &Value, context: &PixelContext<'_>) -> Result<(), String> {
        let by_machine = self.explore_source(e, value, context);
        if context.setting.theorem == Theorem::Printed || !context.affords(0, &by_machine) {
            return Ok(());
        }
        let by_relation = step::explore(&self.program, e, value, context.setting, context.settings.fuel, context.settings.exploration());
        // A limit of the slower engine is no evidence against the faster one.
        let limited = matches!(by_relation.unsettled, Some(Unsettled::Reached(_)));
        match limited || by_relation == by_machine {
            true => Ok(()),
            false => Err(observations_differ(&by_relation, &by_machine)),
        }
    }

    /// Compares the λV machine with the relation on one output: the value, the number of steps,
    /// and each rule. The error says what differs.
    fn check_machine(&self, e: TermId, value: &Value, context: &PixelContext<'_>, rules: &mut Vec<Rule>) -> Result<(), String> {
        let fuel = context.settings.fuel;
        let mut fired = Vec::new();
        let outcome = Reduction::new(&self.program, *context.setting).run(e, Strategy::First, fuel, &mut |r, _, reduct| {
            fired.push((reduct.rule, r.terms.span(reduct.redex)));
            rules.push(reduct.rule);
            rules.extend(reduct.within.iter().copied());
        });
        match &outcome {
            Outcome::Observed(reduced) if reduced.same_bits(value) => {}
            Outcome::Observed(reduced) => {
                return Err(format!("{} by the relation, {} by the machine", value_text(reduced), value_text(value)));
            }
            // A limit of the slower engine is no evidence against the faster one.
            Outcome::Limit(_) => return Ok(()),
            Outcome::Stuck(stuck) => return Err(format!("the relation is stuck, at {}: {}", stuck.at, stuck.why)),
            other => return Err(format!("the relation ends as {}", other.name())),
        }
        if context.setting.theorem == Theorem::Printed {
            return Ok(());
        }
        // The whole run is compared transition by transition. With call by name the machine fires
        // the same rules as the relation.
        let mut at = 0;
        let mut differs = None;
        let mut watch = |(rule, span, _): machine::Firing<'_>| {
            if differs.is_none() && fired.get(at) != Some(&(rule, span)) {
                differs = Some((at, rule));
            }
            at += 1;
        };
        let bounds = Bounds { fuel, ..Bounds::default() };
        machine::run_watched(&self.program, e, context.setting, bounds, Sharing::ByName, Some(&mut watch));
        if let Some((step, rule)) = differs {
            let expected = fired.get(step).map_or("none", |f| f.0.name());
            return Err(format!("step {step}: {expected} by the relation, {rule} by the machine"));
        }
        if at == fired.len() { Ok(()) } else { Err(format!("{} steps by the relation, {at} by the machine", fired.len())) }
    }
}

/// Whether the ending of the target is known: it ends within its fuel, or it never ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Known,
    Unknown,
}

/// The setting of all engines on one pixel.
struct PixelContext<'a> {
    pixel: (u32, u32),
    settings: &'a Settings,
    setting: &'a Setting,
    inputs: &'a spirv::Inputs<'a>,
    fuel: u64,
}

impl PixelContext<'_> {
    /// Whether a relation may follow as many ways as the machine did, each of about `steps` steps.
    fn affords(&self, steps: u64, observation: &Observation) -> bool {
        observation.ways > 0 && steps.max(100).saturating_mul(observation.ways.into()) <= REFERENCE_STEPS
    }
}

/// The index of the output with this location among the shown outputs, by ascending location.
/// `compare` has checked that it is present.
fn index_of_output(shown: &spirv::Outputs, location: u32, default: usize) -> usize {
    shown.written.iter().position(|(l, _)| *l == location).unwrap_or(default)
}

fn observations_differ(a: &Observation, b: &Observation) -> String {
    let text = |o: &Observation| {
        let expected: Vec<String> = o.expected.iter().map(|&e| expected_text(e)).collect();
        let why = o.unsettled.as_ref().map_or(String::new(), |why| format!(", {why}"));
        format!("{} in {} ways{why}", expected.join(", "), o.ways)
    };
    format!("over sets, {} by the relation, {} by the machine", text(a), text(b))
}

fn target_ending(pixel: (u32, u32), ending: &Outcome<spirv::Outputs>, fuel: u64) -> String {
    let what = match ending {
        Outcome::Undefined(undefined) => undefined.to_string(),
        Outcome::Stuck(stuck) => format!("stuck, at {}: {}", stuck.at, stuck.why),
        Outcome::OutOfFuel => format!("it did not end within {fuel} steps, the multiple allowed of the source's"),
        Outcome::Unsupported(what) => format!("unsupported: {what}"),
        other => other.name().to_string(),
    };
    format!("the source has a value at pixel {pixel:?}, and the translated program has none: {what}")
}

fn outputs_differ(a: &spirv::Outputs, b: &spirv::Outputs) -> String {
    let bits = |o: &spirv::Outputs| -> Vec<(u32, Vec<String>)> {
        o.written.iter().map(|(l, lanes)| (*l, lanes.iter().map(|l| format!("{:#010x}", l.bits)).collect())).collect()
    };
    if bits(a) != bits(b) {
        return format!("{:?} by the relation, {:?} by the machine", bits(a), bits(b));
    }
    match a.steps == b.steps {
        true => "the same bits, but what is known about the lanes differs".into(),
        false => format!("{} steps by the relation, {} by the machine", a.steps, b.steps),
    }
}

/// The numbers of decided and undecided lanes among the expected ones.
pub fn decided(expected: &[Vec<[Expected; 4]>], components: &[u32]) -> super::Lanes {
    let mut lanes = super::Lanes::default();
    for (pixels, &n) in expected.iter().zip(components) {
        for expected in pixels.iter().flat_map(|p| &p[..n as usize]) {
            match expected {
                Expected::Undecided(_) => lanes.undecided += 1,
                _ => lanes.checked += 1,
            }
        }
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallstep_semantics::outcome::{Limit, Stuck};
    use smallstep_semantics::undefined::{Ub, Undefined};

    /// If the source has a value and the target ends without one, the ending is described in words.
    #[test]
    fn endings_of_the_target_are_told() {
        let undefined = Undefined { ub: Ub::DivisionByZero, what: "%7".into(), at: "in %2".into(), site: None };
        for (ending, expected) in [
            (Outcome::Undefined(undefined), "undefined[spirv/division-by-zero]: %7 (in %2)"),
            (Outcome::Stuck(Stuck { why: "no rule".into(), at: "block 3".into() }), ": stuck, at block 3: no rule"),
            (Outcome::OutOfFuel, ": it did not end within 80 steps, the multiple allowed of the source's"),
            (Outcome::Unsupported("OpX".into()), ": unsupported: OpX"),
            (Outcome::Limit(Limit { what: "bytes", bound: 4 }), ": limit"),
            (Outcome::Deadlock, ": deadlock"),
        ] {
            let text = target_ending((1, 2), &ending, 80);
            let begins = "the source has a value at pixel (1, 2), and the translated program has none: ";
            assert!(text.starts_with(begins) && text.contains(expected), "{text}");
        }
    }

    /// Outputs of two engines may differ in bits, in numbers of steps, or in the knowledge
    /// of lanes.
    #[test]
    fn what_outputs_differ_in_is_told() {
        let shown = |bits: f32, steps: u64| spirv::Outputs {
            written: [(3, [Lane::exact(bits)].into_iter().collect())].into_iter().collect(),
            steps,
            ..spirv::Outputs::default()
        };
        let differ = |a, b| outputs_differ(&a, &b);
        let bits = "[(3, [\"0x3f800000\"])] by the relation, [(3, [\"0x40000000\"])] by the machine";
        assert_eq!(differ(shown(1.0, 5), shown(2.0, 5)), bits);
        assert_eq!(differ(shown(1.0, 5), shown(1.0, 6)), "5 steps by the relation, 6 by the machine");
        assert_eq!(differ(shown(1.0, 5), shown(1.0, 5)), "the same bits, but what is known about the lanes differs");
    }
}
