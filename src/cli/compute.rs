//! Modules with a compute entry point in `smallstep run` and `smallstep trace`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use smallstep::compute::carried::{self, DispatchInputs};
use smallstep::compute::given::{Assignment, Contents, Place, Sampled, SpecValue, Specialized, Texels};
use smallstep::compute::report::{self, AssemblyLines, Invocations};
use smallstep::compute::{self, BoundInputs, ComputeModule, Interpreter, Prepared};
use smallstep::gpu::{self, Device, DeviceOutcome, Route, Selection};
use smallstep::program::{Language, Program};
use smallstep::run::screen::{self, Input, Screen};
use smallstep::source::ReadError;
use smallstep::theorem;
use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::number::Why;
use smallstep_semantics::outcome::{InputFault, InvalidInput, Outcome};
use smallstep_semantics::spirv::environment::{Observation, Robustness, SubgroupMapping};
use smallstep_semantics::spirv::{Event, Module, spec_constants};
use smallstep_semantics::spirv::{grid, subset};
use smallstep_semantics::undefined::{Call, Site, Undefined};

use super::budget::Budget;
use super::memory::Memory;
use super::{exit, input};

/// What a compute module is run on.
#[derive(Args)]
#[command(next_help_heading = "Compute modules")]
pub(crate) struct ComputeArgs {
    /// Workgroups, as 4 or 4,2,1. 1,1,1 if not given.
    #[arg(long, value_name = "X,Y,Z", value_parser = carried::groups)]
    pub(super) groups: Option<[u32; 3]>,
    /// A buffer's bytes: S.B=FILE, or S.B=type:v,v,… of u8 i8 u16 i16 f16 u32 i32 f32 u64 i64 f64,
    /// where v may be v*N: 0.1=u32:zero*64. An array of descriptors takes one for
    /// each element, in order; and so do --texture and --sampler.
    #[arg(long, value_name = "S.B=…")]
    pub(super) set: Vec<Assignment<Contents>>,
    /// An image: S.B=FILE.png, or 'S.B=FORMAT WxH TEXEL…' with one number a texel, as
    /// '0.1=R8G8B8A8_UNORM 2x1 0xff0000ff 0xff00ff00'; or WxH levels=L, WxH layers=N, 1d W,
    /// 3d WxHxD, cube NxN with six faces.
    #[arg(long, value_name = "S.B=…")]
    pub(super) texture: Vec<Assignment<Texels>>,
    /// A sampler: 'S.B=linear edge'; words are nearest, linear, mag=, min=, mip=, repeat, mirrored,
    /// edge, border, x=, y=, z=, colour=opaque-white, unnormalized, compare=Less, bias=0.5,
    /// lod=0..3; nearest and repeated without.
    #[arg(long, value_name = "S.B=…")]
    pub(super) sampler: Vec<Assignment<Sampled>>,
    /// The push constants, one after another: FILE or type:v,v,….
    #[arg(long, value_name = "type:v,…")]
    pub(super) push: Vec<Contents>,
    /// A value for the specialization constant with this SpecId, or of a WSL
    /// program with this name; of WGSL for the override with this name or id.
    #[arg(long, value_name = "SPECID=v")]
    pub(super) spec: Vec<Specialized>,
    /// Who has the next turn, on the reference: in-order, round-robin, random:SEED,
    /// or replay with invocations.
    #[arg(long, value_parser = schedule)]
    pub(super) schedule: Option<Schedule>,
    /// What buffer accesses out of bounds do: none (undefined behaviour), rba1 or rba2
    /// (robustBufferAccess, robustBufferAccess2).
    #[arg(long, value_parser = robustness)]
    pub(super) robustness: Option<Robustness>,
    /// How many invocations a subgroup has: a power of two up to 128. Without it, a module that
    /// depends on subgroups runs with several sizes.
    #[arg(long, value_name = "N", value_parser = carried::subgroup_size)]
    pub(super) subgroup_size: Option<u32>,
    /// Which invocations of a workgroup are a subgroup: index (by their local invocation indices,
    /// the default) or any, so that what depends on it is in doubt.
    #[arg(long, value_parser = subgroup_mapping)]
    pub(super) subgroup_mapping: Option<SubgroupMapping>,
    /// Accept what older tools wrote: sections out of order, another reserved word.
    #[arg(long)]
    pub(super) lenient: bool,
}

pub(super) fn schedule(text: &str) -> Result<Schedule, InvalidInput> {
    text.replacen(':', " ", 1).parse()
}

fn subgroup_mapping(text: &str) -> Result<SubgroupMapping, String> {
    match text {
        "index" => Ok(SubgroupMapping::ByIndex),
        "any" => Ok(SubgroupMapping::Any),
        _ => Err(format!("no mapping of subgroups is called \"{text}\"; there are index and any")),
    }
}

fn robustness(text: &str) -> Result<Robustness, String> {
    match text {
        "none" => Ok(Robustness::None),
        "rba1" => Ok(Robustness::Access1),
        "rba2" => Ok(Robustness::Access2),
        _ => Err(format!("no robustness is called \"{text}\"; there are none, rba1 and rba2")),
    }
}

pub(super) use super::exit::Failure;

pub(super) fn invalid(what: impl std::fmt::Display) -> Failure {
    (exit::INVALID, format!("error: {what}"))
}

fn unread(error: &ReadError) -> Failure {
    (super::run::read_code(error), error.text.clone())
}

pub(super) fn contents(contents: &Contents) -> Result<Vec<u8>, Failure> {
    match contents {
        Contents::Bytes(bytes) => Ok(bytes.clone()),
        Contents::File(path) => input::bytes(Path::new(path)).map_err(invalid),
    }
}

/// A module, with the data for messages about it.
pub(crate) struct Source {
    name: String,
    pub(super) module: Module,
    pub(super) assembly: Option<AssemblyLines>,
    text_inputs: DispatchInputs,
}

impl Source {
    /// Whether the entry point with this name is a compute entry point. Without a name, whether
    /// any is.
    pub(crate) fn is_compute(&self, entry: Option<&str>) -> bool {
        compute::is_compute(&self.module, entry)
    }
}

impl ComputeArgs {
    /// The names of all these options.
    pub(super) const OPTIONS: &[&str] =
        &["groups", "set", "texture", "sampler", "push", "spec", "schedule", "robustness", "subgroup-size", "subgroup-mapping", "lenient"];

    /// The first option given that only compute modules have.
    pub(crate) fn first_option(&self) -> Option<&'static str> {
        self.given_options().next()
    }

    fn given_options(&self) -> impl Iterator<Item = &'static str> {
        let options = [
            (self.groups.is_some(), "--groups"),
            (!self.set.is_empty(), "--set"),
            (!self.texture.is_empty(), "--texture"),
            (!self.sampler.is_empty(), "--sampler"),
            (!self.push.is_empty(), "--push"),
            (!self.spec.is_empty(), "--spec"),
            (self.schedule.is_some(), "--schedule"),
            (self.robustness.is_some(), "--robustness"),
            (self.subgroup_size.is_some(), "--subgroup-size"),
            (self.subgroup_mapping.is_some(), "--subgroup-mapping"),
            (self.lenient, "--lenient"),
        ];
        options.into_iter().filter(|(is_given, _)| *is_given).map(|(_, name)| name)
    }

    /// The first option given that an Amber script does not accept. A script describes its
    /// dispatches completely.
    pub(crate) fn option_unfit_for_scripts(&self) -> Option<&'static str> {
        self.given_options().find(|option| !matches!(*option, "--schedule" | "--subgroup-size" | "--lenient"))
    }

    /// The first option given for an image or a sampler.
    pub(super) fn image_option(&self) -> Option<&'static str> {
        self.given_options().find(|option| matches!(*option, "--texture" | "--sampler"))
    }

    /// The first option given for the loading of modules.
    pub(super) fn loading_option(&self) -> Option<&'static str> {
        self.given_options().find(|option| matches!(*option, "--spec" | "--lenient"))
    }

    /// The schedule of the invocations.
    pub(crate) fn schedule(&self) -> Option<&Schedule> {
        self.schedule.as_ref()
    }

    /// Whether to accept the output of older tools.
    pub(crate) fn lenient(&self) -> bool {
        self.lenient
    }

    /// Loads the module. The values of its specialization constants come from the options, or else
    /// from its text.
    pub(crate) fn module(&self, program: &Program) -> Result<Source, Failure> {
        match program.language {
            Language::Wgsl => self.module_with(&self.overriding(program.clone()), &[]),
            _ => self.module_with(program, &self.spec_values()?),
        }
    }

    /// The WGSL program with the override values of the options.
    pub(super) fn overriding(&self, program: Program) -> Program {
        program.overriding(self.specialized())
    }

    /// The values of a SPIR-V module's specialization constants.
    pub(super) fn spec_values(&self) -> Result<Vec<SpecValue>, Failure> {
        self.spec.iter().map(|s| s.by_id().map_err(invalid)).collect()
    }

    /// The values of a WSL or WGSL program's specialization constants, by name.
    pub(super) fn specialized(&self) -> Vec<(String, String)> {
        self.spec.iter().map(|s| (s.constant.clone(), s.value.clone())).collect()
    }

    /// The first option given that a WSL program does not accept.
    pub(super) fn option_unfit_for_wsl(&self) -> Option<&'static str> {
        self.given_options().find(|option| {
            matches!(*option, "--push" | "--schedule" | "--robustness" | "--subgroup-size" | "--subgroup-mapping" | "--lenient")
        })
    }

    /// Like [`ComputeArgs::module`], with these values for specialization constants.
    pub(super) fn module_with(&self, program: &Program, values: &[SpecValue]) -> Result<Source, Failure> {
        let name = &program.name;
        let words = program.words().map_err(|e| unread(&e))?;
        let text = (program.language == Language::Assembly).then(|| program.text());
        let text_inputs = text.map_or(Ok(DispatchInputs::default()), DispatchInputs::read).map_err(|e| invalid(format!("{name}: {e}")))?;
        let values = if values.is_empty() { &text_inputs.spec } else { values };
        let module = compute::load(name, &words, self.lenient, values).map_err(|e| unread(&e))?;
        let assembly = text.and_then(|text| AssemblyLines::new(name, text, &module));
        Ok(Source { name: name.clone(), module, assembly, text_inputs })
    }

    /// The buffers of the options.
    pub(super) fn buffers(&self) -> Result<Vec<(Place, Vec<u8>)>, Failure> {
        self.set.iter().map(|a| Ok((a.place, contents(&a.given)?))).collect()
    }

    /// The push constants of the options.
    pub(super) fn push_constants(&self) -> Result<Vec<u8>, Failure> {
        Ok(self.push.iter().map(contents).collect::<Result<Vec<_>, Failure>>()?.concat())
    }

    /// The value of `--subgroup-size`, if given.
    pub(crate) fn subgroup_size(&self) -> Option<u32> {
        self.subgroup_size
    }

    /// The value of `--robustness`, if given.
    pub(super) fn robustness_name(&self) -> Option<&'static str> {
        self.robustness.map(|robustness| match robustness {
            Robustness::None => "none",
            Robustness::Access1 => "rba1",
            Robustness::Access2 => "rba2",
        })
    }

    /// The value of `--subgroup-mapping`, if given.
    pub(super) fn subgroup_mapping_name(&self) -> Option<&'static str> {
        self.subgroup_mapping.map(|mapping| match mapping {
            SubgroupMapping::ByIndex => "index",
            SubgroupMapping::Any => "any",
        })
    }

    /// The draw over a whole screen for a fragment module. Without `always` and without options for
    /// draws, there is one only if the module needs more than λV's way of running, which is pixel
    /// by pixel with one buffer. Otherwise returns the module again.
    pub(crate) fn screen(
        &self,
        source: Source,
        entry: Option<&str>,
        size: (u32, u32),
        inputs: &[Input],
        always: bool,
    ) -> Result<Result<Screen, Source>, Failure> {
        let (name, module) = (&source.name, &source.module);
        let is_requested = always || !inputs.is_empty() || self.first_option().is_some();
        let is_drawn = is_requested || screen::entry_of(module, entry).is_ok() && subset::lambda_v(module).is_err();
        if !is_drawn {
            return Ok(Err(source));
        }
        let subgroups = self.subgroup_size.map(|_| "--subgroup-size").or(self.subgroup_mapping.map(|_| "--subgroup-mapping"));
        let sizes = self.groups.map(|_| "--groups").or(subgroups);
        if let Some(option) = sizes.or(self.schedule.as_ref().map(|_| "--schedule")) {
            return Err(invalid(format!("{name}: {option} is for compute modules, and this draws")));
        }
        let bound = self.bound_inputs(&source.text_inputs)?;
        let Source { name, module, .. } = source;
        let screen = Screen::new(module, entry, size, inputs, bound, self.robustness.unwrap_or_default());
        screen.map(Ok).map_err(|e| invalid(format!("{name}: {e}")))
    }

    /// The contents behind the descriptors, and the push constants. The text's comments supply what
    /// the options do not.
    pub(super) fn bound_inputs(&self, text_inputs: &DispatchInputs) -> Result<BoundInputs, Failure> {
        let (set, texture, sampler, push) = (self.set.clone(), self.texture.clone(), self.sampler.clone(), self.push.clone());
        let from_options = DispatchInputs { set, texture, sampler, push, ..DispatchInputs::default() };
        let read = |file: &str| input::bytes(Path::new(file)).map_err(|e| InvalidInput::new(InputFault::File, e.to_string()));
        from_options.over(text_inputs).given(read).map_err(invalid)
    }

    /// The dispatch. The text's comments supply what the options do not.
    fn prepare(
        &self,
        name: &str,
        module: Module,
        text_inputs: &DispatchInputs,
        entry: Option<&str>,
        budget: Budget,
    ) -> Result<Prepared, Failure> {
        let failure = |e: String| invalid(format!("{name}: {e}"));
        let module = ComputeModule::new(module, entry).map_err(|e| failure(e.what))?;
        let groups = self.groups.or(text_inputs.groups).unwrap_or([1; 3]);
        let mut prepared = Prepared::new(module, groups, self.bound_inputs(text_inputs)?).map_err(|e| failure(e.what))?;
        prepared.robustness = self.robustness.unwrap_or_default();
        prepared.subgroup_size = self.subgroup_size.or(text_inputs.subgroup_size);
        prepared.subgroup_mapping = self.subgroup_mapping.unwrap_or_default();
        prepared.limits = budget.limits();
        Ok(prepared)
    }
}

/// The SpecIds of a module's specialization constants.
pub(super) fn spec_ids(program: &Program) -> Result<Vec<u32>, Failure> {
    let words = program.words().map_err(|e| unread(&e))?;
    let constants = spec_constants(&words).map_err(|e| unread(&ReadError::of_module(&program.name, &e)))?;
    Ok(constants.iter().map(|constant| constant.id).collect())
}

/// The settings of `run`, beside the arguments of a dispatch.
pub(crate) struct Running<'a> {
    pub(crate) args: &'a ComputeArgs,
    pub(crate) entry: Option<&'a str>,
    pub(crate) engine: Option<&'a str>,
    pub(crate) route: Option<Route>,
    pub(crate) out: &'a [Assignment<PathBuf>],
    pub(crate) keep_going: bool,
    pub(crate) budget: Budget,
    pub(crate) values: bool,
    pub(crate) json: bool,
}

impl Running<'_> {
    /// The requested interpreter. `None` for a device.
    fn interpreter(&self) -> Result<Option<Interpreter>, Failure> {
        let of_reference = match (&self.args.schedule, self.keep_going) {
            (Some(_), _) => Some("--schedule"),
            (None, true) => Some("--keep-going"),
            (None, false) => None,
        };
        let reference = || Interpreter::Reference { schedule: self.args.schedule.clone().unwrap_or_default(), keep_going: self.keep_going };
        match (self.engine, of_reference) {
            (Some("reference"), _) | (None, Some(_)) => Ok(Some(reference())),
            (Some(other), Some(option)) => Err(invalid(format!("{option} is for the reference; the engine is \"{other}\""))),
            (Some("machine" | "spirv"), None) => Ok(Some(Interpreter::Machine)),
            (None, None) => Ok(Some(Interpreter::Any)),
            (Some(_), None) => Ok(None),
        }
    }

    pub(crate) fn run(&self, source: Source) -> Result<u8, Failure> {
        let interpreter = self.interpreter()?;
        let Source { name, module, assembly, text_inputs } = source;
        let budget = if interpreter.is_some() { self.budget } else { self.budget.beside_device()? };
        let prepared = self.args.prepare(&name, module, &text_inputs, self.entry, budget)?;
        self.memory().check_out_places(&name, prepared.module.uses(), &prepared.module.entry)?;
        let Some(interpreter) = interpreter else { return self.run_on_device(&name, &prepared, assembly.as_ref()) };
        let ran = prepared.run(&interpreter).map_err(|e| unread(&ReadError::of_module(&name, &e)))?;
        if let Some(what) = &ran.note {
            tell!("note: the machine does not run this ({what}); the reference does");
        }
        let bytes = |why: Why| -> u64 {
            let ranges = ran.report.doubtful.iter().filter(|doubtful| doubtful.why == why);
            ranges.map(|doubtful| doubtful.end - doubtful.start).sum()
        };
        if let by_size @ 1.. = bytes(Why::SubgroupSize) {
            let size = grid::SIZES[0];
            tell!(
                "note: {by_size} bytes depend on the size of subgroups; shown is a run with {size} or the least that fits; --subgroup-size N gives it"
            );
        }
        for why in [Why::SubgroupMapping, Why::Reconvergence] {
            if let in_doubt @ 1.. = bytes(why) {
                tell!("note: devices may show other values in {in_doubt} bytes: {}", theorem::why_text(why));
            }
        }
        if let Outcome::Observed(observation) = &ran.report.outcome {
            self.show(&prepared, observation)?;
        }
        let code = ending(&prepared.module.module, &ran.report.outcome, &ran.report.undefined, assembly.as_ref(), &name);
        if self.json {
            let instructions = ran.report.outcome.observed().map(|o| o.instructions);
            let undefined: Vec<_> = ran.report.undefined.iter().map(|u| undefined_json(u, assembly.as_ref())).collect();
            say!(
                "{}",
                json!({"schema": 1, "kind": "summary", "file": name, "entry": prepared.module.entry, "engine": ran.engine, "note": ran.note,
                    "groups": prepared.groups, "ending": ran.report.outcome.name(), "why": why(&ran.report.outcome), "undefined": undefined,
                    "instructions": instructions, "exit": code})
            );
        }
        Ok(code)
    }

    fn run_on_device(&self, name: &str, prepared: &Prepared, assembly: Option<&AssemblyLines>) -> Result<u8, Failure> {
        let wanted = self.engine.unwrap_or_default();
        if prepared.robustness != Robustness::None {
            return Err(invalid("--robustness is for the interpreters; a device has its own"));
        }
        let selection: Selection = wanted.parse().unwrap_or_default();
        let device = Device::open(&selection, self.route, gpu::Options::default())
            .map_err(|e| (exit::UNCHECKED, format!("error: no engine is called \"{wanted}\", and as a device: {e}")))?;
        let engine = format!("{} ({})", device.adapter().name, device.route());
        // The interpreters check the run of the device.
        let device_size = device.adapter().subgroups.size();
        if let (Some(requested), Some(device_size)) = (prepared.subgroup_size, device_size)
            && requested != device_size
        {
            return Err(invalid(format!("--subgroup-size {requested} is for the interpreters; the device has subgroups of {device_size}")));
        }
        let observation = prepared.run_on(&device).map_err(|outcome| {
            let code = match outcome {
                DeviceOutcome::Unchecked(_) => exit::UNCHECKED,
                _ => exit::FAILED,
            };
            (code, format!("error: {name}: {engine}: {outcome}"))
        })?;
        self.show(prepared, &observation)?;
        let interpreted = prepared.run_as_on_device(device_size).map_err(|e| unread(&ReadError::of_module(name, &e)))?.report;
        let code = report_on_device_result(&engine, &prepared.module.module, &interpreted.outcome, &interpreted.undefined, assembly, name);
        if self.json {
            let undefined: Vec<_> = interpreted.undefined.iter().map(|u| undefined_json(u, assembly)).collect();
            say!(
                "{}",
                json!({"schema": 1, "kind": "summary", "file": name, "entry": prepared.module.entry, "engine": engine,
                    "groups": prepared.groups, "ending": "observed", "undefined": undefined, "exit": code})
            );
        }
        Ok(code)
    }

    fn memory(&self) -> Memory<'_> {
        Memory { out: self.out, values: self.values, json: self.json }
    }

    /// Prints the buffers and storage images, and writes the buffers that `--out` names.
    fn show(&self, prepared: &Prepared, observation: &Observation) -> Result<(), Failure> {
        let invocations = Invocations::OfDispatch(&prepared.module, prepared.groups);
        let Observation { buffers, images, .. } = observation;
        self.memory().show(prepared.module.uses(), invocations, (buffers, images), |place| prepared.given(place))
    }
}

/// Reports on standard error how a draw ended that has no picture. Returns the exit code.
pub(super) fn ending_of<O>(module: &Module, outcome: &Outcome<O>, name: &str) -> u8 {
    let undefined = if let Outcome::Undefined(undefined) = outcome { std::slice::from_ref(undefined) } else { &[] };
    ending(module, outcome, undefined, None, name)
}

/// Reports on standard error what an interpreter found about the result of a device. Returns the
/// exit code. A device shows something whatever a module does. Only the interpreters know whether
/// it has a meaning.
pub(super) fn report_on_device_result<O>(
    engine: &str,
    module: &Module,
    outcome: &Outcome<O>,
    undefined: &[Undefined],
    assembly: Option<&AssemblyLines>,
    name: &str,
) -> u8 {
    match outcome {
        Outcome::Observed(_) => exit::DONE,
        Outcome::Undefined(_) => {
            tell!("{}", no_meaning(engine));
            ending(module, outcome, undefined, assembly, name)
        }
        other => {
            tell!("{}", unknown_meaning(name, &why(other).unwrap_or_default()));
            exit::DONE
        }
    }
}

/// The line before a report of undefined behaviour that makes the result of a device meaningless.
pub(super) fn no_meaning(engine: &str) -> String {
    format!("note: behaviour is undefined, so that what {engine} shows may be anything:")
}

/// The line for a device's result if no interpreter can tell whether it has a meaning.
pub(super) fn unknown_meaning(name: &str, why: &str) -> String {
    format!("note: {name}: it is not known whether behaviour is undefined: {why}")
}

/// The summary of a draw without a picture.
pub(super) fn summary_of<O>(name: &str, engine: &str, outcome: &Outcome<O>, code: u8) -> serde_json::Value {
    let undefined: Vec<_> = if let Outcome::Undefined(u) = outcome { vec![undefined_json(u, None)] } else { Vec::new() };
    json!({"schema": 1, "kind": "summary", "file": name, "engine": engine, "ending": outcome.name(), "why": why(outcome),
        "undefined": undefined, "exit": code})
}

/// Reports on standard error how a run ended that has no observation. Returns the exit code.
fn ending<O>(module: &Module, outcome: &Outcome<O>, undefined: &[Undefined], assembly: Option<&AssemblyLines>, name: &str) -> u8 {
    for one in undefined {
        let report = report::undefined(module, one, assembly);
        tell!("{}", super::output::painted(&report, std::io::stderr().is_terminal()));
    }
    if let (Some(why), true) = (why(outcome), undefined.is_empty()) {
        tell!("{name}: {why}");
    }
    match outcome {
        Outcome::Observed(_) => exit::DONE,
        Outcome::Undefined(_) => exit::UNDEFINED,
        Outcome::Unsupported(_) => exit::UNSUPPORTED,
        Outcome::OutOfFuel | Outcome::Limit(_) => exit::LIMIT,
        Outcome::Diverges(_) => exit::UNCHECKED,
        Outcome::Stuck(_) | Outcome::Deadlock => exit::INVALID,
    }
}

fn why<O>(outcome: &Outcome<O>) -> Option<String> {
    Some(match outcome {
        Outcome::Observed(_) => return None,
        Outcome::Undefined(undefined) => undefined.to_string(),
        Outcome::Unsupported(what) => format!("unsupported: {what}"),
        Outcome::OutOfFuel => "out of fuel: --fuel gives the most instructions of all invocations together".into(),
        Outcome::Limit(limit) => limit.to_string(),
        Outcome::Diverges(why) => format!("it never ends: {why}"),
        Outcome::Stuck(stuck) => format!("stuck, at {}: {}", stuck.at, stuck.why),
        Outcome::Deadlock => "deadlock: every invocation waits for another".into(),
    })
}

pub(super) fn undefined_json(undefined: &Undefined, assembly: Option<&AssemblyLines>) -> serde_json::Value {
    let mut object = json!({"id": undefined.ub.id(), "clause": undefined.ub.clause(), "what": undefined.what, "at": undefined.at});
    let place = |site: &Site| {
        let assembly_line = assembly.and_then(|lines| lines.of(site.instruction));
        json!({
            "function": site.function, "block": site.block, "invocation": site.global, "step": site.step,
            "source": site.line, "assembly_line": assembly_line,
        })
    };
    if let (Some(site), Some(object)) = (&undefined.site, object.as_object_mut()) {
        if let serde_json::Value::Object(place) = place(site) {
            object.extend(place);
        }
        if let Some(earlier) = &site.earlier {
            object.insert("races_with".into(), place(earlier));
        }
        if !site.calls.is_empty() {
            let called = |call: &Call| {
                let assembly_line = assembly.and_then(|lines| lines.of(call.instruction));
                json!({"function": call.function, "block": call.block, "source": call.line, "assembly_line": assembly_line})
            };
            object.insert("calls".into(), json!(site.calls.iter().map(called).collect::<Vec<_>>()));
        }
    }
    object
}

/// The settings of `trace`, beside the arguments of a dispatch.
pub(crate) struct Tracing<'a> {
    pub(crate) args: &'a ComputeArgs,
    pub(crate) entry: Option<&'a str>,
    pub(crate) invocation: Option<[u32; 3]>,
    pub(crate) function: Option<&'a str>,
    pub(crate) fuel: Option<u64>,
    pub(crate) json: bool,
}

/// The most instructions of all invocations together in a trace without `--fuel`.
const TRACED: u64 = 1_000_000;

impl Tracing<'_> {
    pub(crate) fn run(&self, source: Source) -> Result<u8, Failure> {
        let Source { name, module, assembly, text_inputs } = source;
        let function = self.function.map(|text| function_id(&module, text)).transpose().map_err(|e| invalid(format!("{name}: {e}")))?;
        let mut prepared =
            self.args.prepare(&name, module, &text_inputs, self.entry, Budget::of_fuel(Some(self.fuel.unwrap_or(TRACED))))?;
        // A trace shows only one run.
        prepared.subgroup_size = prepared.subgroup_size.or(Some(grid::SIZES[0]));
        let module = &prepared.module.module;
        let mut steps = 0u64;
        let mut show = |event: &Event<'_, '_>| {
            let global = prepared.module.global(prepared.groups, event.invocation.workgroup, event.invocation.local);
            if self.invocation.is_some_and(|wanted| wanted != global) || function.is_some_and(|wanted| wanted != event.at.function) {
                return;
            }
            steps += 1;
            let line = event.line(module);
            if !self.json {
                say!("{line}");
                return;
            }
            let value = event.instruction.name();
            say!(
                "{}",
                json!({"schema": 1, "kind": "step", "invocation": global, "workgroup": event.invocation.workgroup, "local": event.invocation.local,
                    "step": event.step, "rule": event.rule.name(), "opcode": value, "result": event.instruction.result,
                    "function": event.at.function, "block": event.at.block, "source": event.source_line(module), "line": line})
            );
        };
        let schedule = self.args.schedule.clone().unwrap_or_default();
        let report = prepared.trace(&schedule, false, &mut show).map_err(|e| unread(&ReadError::of_module(&name, &e)))?;
        let code = ending(module, &report.outcome, &report.undefined, assembly.as_ref(), &name);
        if self.json {
            let undefined: Vec<_> = report.undefined.iter().map(|u| undefined_json(u, assembly.as_ref())).collect();
            say!(
                "{}",
                json!({"schema": 1, "kind": "summary", "file": name, "ending": report.outcome.name(), "why": why(&report.outcome),
                    "undefined": undefined, "steps": steps, "exit": code})
            );
        } else {
            say!("{} after {steps} steps shown", report.outcome.name());
        }
        Ok(code)
    }
}

/// Traces one pixel of a fragment module.
pub(super) fn trace_screen(name: &str, screen: &Screen, pixel: (u32, u32), fuel: Option<u64>, json: bool) -> Result<u8, Failure> {
    let module = screen.module();
    let mut steps = 0u64;
    let mut show = |event: &Event<'_, '_>| {
        steps += 1;
        let line = event.line(module);
        match json {
            false => say!("{line}"),
            true => say!(
                "{}",
                json!({"schema": 1, "kind": "step", "pixel": [pixel.0, pixel.1], "step": event.step, "rule": event.rule.name(),
                    "opcode": event.instruction.name(), "result": event.instruction.result, "function": event.at.function,
                    "block": event.at.block, "source": event.source_line(module), "line": line})
            ),
        }
    };
    let outcome = screen.trace(pixel, fuel.unwrap_or(TRACED), &mut show).map_err(|e| unread(&ReadError::of_module(name, &e)))?;
    let code = if outcome.observed().is_some() { exit::DONE } else { ending_of(module, &outcome, name) };
    match json {
        false => say!("{} after {steps} steps shown", outcome.name()),
        true => say!(
            "{}",
            json!({"schema": 1, "kind": "summary", "file": name, "ending": outcome.name(), "why": why(&outcome), "steps": steps, "exit": code})
        ),
    }
    Ok(code)
}

/// The function with this id, as `%4` or `4`, or with this name, as `main` or `%main`.
fn function_id(module: &Module, text: &str) -> Result<u32, String> {
    let name = text.strip_prefix('%').unwrap_or(text);
    let is_named = |id: u32| module.name(id).as_deref() == Some(name) || id.to_string() == name;
    let functions = module.functions().iter().map(|f| f.id);
    functions.clone().find(|&id| is_named(id)).ok_or_else(|| {
        let names: Vec<String> = functions.take(16).map(|id| report::id(module, id)).collect();
        format!("no function is called \"{text}\"; there are {}", names.join(", "))
    })
}

/// Reads `X,Y,Z`.
pub(crate) fn invocation(text: &str) -> Result<[u32; 3], String> {
    let parts: Result<Vec<u32>, _> = text.split(',').map(|part| part.trim().parse::<u32>()).collect();
    match parts.as_deref() {
        Ok(&[x, y, z]) => Ok([x, y, z]),
        _ => Err(format!("\"{text}\" is no invocation; write its GlobalInvocationId as 3,0,0")),
    }
}
