//! Functions: the statements of the tree, in order, with the instructions in each.

use rspirv::spirv::{Op, StorageClass};
use rustc_hash::FxHashMap;
use smallstep_semantics::spirv::cfg::Node;
use smallstep_semantics::spirv::module::{EntryPoint, Function};
use smallstep_semantics::spirv::operation::Scalar;
use smallstep_semantics::spirv::types::Type;
use smallstep_semantics::spirv::{Instruction, Module};
use smallstep_semantics::text::deep;

use super::convert::{Bound, Convert, Element, MAX_TEXT, StaticArgument};
use super::place::{DescriptorIndex, Place};
use super::pointer::{Pointer, is_saved};
use super::structure::{Item, ListId, Tree, structure};
use super::text::{Expr, Level, Text};
use super::usage::{Placement, Usage, usage};
use super::{Refused, Why};

/// The approximate number of bytes of text for an instruction.
pub(super) const BYTES_OF_INSTRUCTION: usize = 24;

/// The nesting depth at which a part of an expression gets a name.
const MAX_DEPTH: u8 = 12;

/// The index that marks an instruction in no block. Its value is captured, not written.
const CAPTURED: usize = usize::MAX;

/// The deepest indentation of a line.
const SPACES: &str = "                                                                                                ";

/// The number of columns at which an expression gets a name.
const MAX_WIDTH: usize = 160;

/// An assignment on an edge: of a phi, or of a saved part of a phi that is a pointer.
struct Copy {
    phi: u32,
    /// The variable. `value` is its new value.
    name: Text,
    value: Expr,
}

/// A map from ids that a function uses to `T`.
pub(super) struct ById<'m, T> {
    module: &'m Module,
    /// The index of the first instruction of the function.
    first: usize,
    /// By instruction of the function: the index in `items` plus 1, or 0.
    slots: Vec<u32>,
    items: Vec<T>,
    /// The entries of ids that are defined at module scope.
    module_items: FxHashMap<u32, T>,
}

impl<'m, T: Clone> ById<'m, T> {
    fn of(module: &'m Module, function: &Function) -> ById<'m, T> {
        let first = module.definition(function.id).unwrap_or(0);
        let end = module.function_blocks(function).last().map_or(first, |block| block.end as usize);
        let items = Vec::with_capacity((end - first) / 2);
        ById { module, first, slots: vec![0; end - first], items, module_items: FxHashMap::default() }
    }

    /// The index in `slots` of an id. `None` if the function does not define it.
    fn at(&self, id: u32) -> Option<usize> {
        self.module.definition(id)?.checked_sub(self.first).filter(|at| *at < self.slots.len())
    }

    pub(super) fn get(&self, id: u32) -> Option<&T> {
        match self.at(id) {
            Some(at) => self.items.get((self.slots[at] as usize).wrapping_sub(1)),
            None => self.module_items.get(&id),
        }
    }

    pub(super) fn insert(&mut self, id: u32, value: T) {
        match self.at(id) {
            Some(at) if self.slots[at] == 0 => {
                self.items.push(value);
                self.slots[at] = self.items.len() as u32;
            }
            Some(at) => self.items[self.slots[at] as usize - 1] = value,
            None => _ = self.module_items.insert(id, value),
        }
    }

    fn remove(&mut self, id: u32) -> Option<T> {
        match self.at(id) {
            Some(at) => self.items.get((std::mem::take(&mut self.slots[at]) as usize).wrapping_sub(1)).cloned(),
            None => self.module_items.remove(&id),
        }
    }
}

/// The state of a function that is being written.
pub(super) struct Body<'c, 'm> {
    pub(super) convert: &'c mut Convert<'m>,
    pub(super) function: &'m Function,
    tree: Tree,
    usage: Usage,
    /// The functions so far, and this function as far as it is written.
    out: String,
    indent: usize,
    /// The spelling of each value at its uses.
    values: ById<'m, Expr>,
    /// By block that ends in a switch: the selector, for use in the clauses.
    selectors: FxHashMap<Node, Expr>,
    /// By pointer: the reference that its uses spell.
    pub(super) places: ById<'m, Place>,
    /// By id: the saved pointers.
    pub(super) pointers: FxHashMap<u32, Pointer>,
    /// By parameter: the variable or descriptor that stands for it.
    pub(super) bindings: FxHashMap<u32, Bound>,
    /// By parameter that is one descriptor of an array: the number of the descriptor.
    pub(super) descriptor_numbers: FxHashMap<u32, Expr>,
    flags: Vec<Text>,
    is_entry: bool,
    /// The memory that earlier memory barriers order and no barrier has ordered yet: bits
    /// of MemorySemantics.
    pub(super) ordered_memory: u32,
    /// The value of an instruction in no block.
    capture: Option<Expr>,
    /// The list that is being written. `may_have_left` is whether a statement before may have left
    /// the function.
    current: ListId,
    may_have_left: bool,
}

impl<'c, 'm> Body<'c, 'm> {
    /// Writes a function. `static_arguments` says which of its pointer parameters are variables.
    pub(super) fn write(
        convert: &'c mut Convert<'m>,
        function: &'m Function,
        name: &str,
        static_arguments: &[Option<StaticArgument>],
        entry: Option<&EntryPoint>,
    ) -> Result<(), Refused> {
        let module = convert.module;
        let tree = structure(module, function, &convert.plan)?;
        let usage = usage(module, function, &tree);
        convert.names.enter();
        let parameters = module.parameters(function).iter().map(|parameter| parameter.id);
        let variable = |(id, argument): (u32, &Option<StaticArgument>)| match argument {
            Some(StaticArgument::Variable(bound)) => Some((id, *bound)),
            _ => None,
        };
        let bindings = parameters.zip(static_arguments).filter_map(variable).collect();
        let mut body = Body {
            convert,
            function,
            flags: Vec::new(),
            tree,
            usage,
            out: String::new(),
            indent: 1,
            values: ById::of(module, function),
            selectors: FxHashMap::default(),
            places: ById::of(module, function),
            pointers: FxHashMap::default(),
            bindings,
            descriptor_numbers: FxHashMap::default(),
            is_entry: entry.is_some(),
            ordered_memory: 0,
            capture: None,
            current: 0,
            may_have_left: false,
        };
        let head = body.head(name, static_arguments, entry)?;
        body.out = std::mem::take(&mut body.convert.functions);
        [&*head, " {\n"].into_iter().for_each(|text| body.out.push_str(text));
        body.flags = (0..body.tree.flags).map(|_| body.convert.names.local("leave")).collect();
        if entry.is_some() {
            body.begin_entry()?;
        }
        body.variables()?;
        body.list(0)?;
        if body.tree.falls {
            body.end_of_function()?;
        }
        body.out.push_str("}\n");
        body.convert.functions = std::mem::take(&mut body.out);
        Ok(())
    }

    fn head(&mut self, name: &str, static_arguments: &[Option<StaticArgument>], entry: Option<&EntryPoint>) -> Result<String, Refused> {
        let module = self.convert.module;
        if let Some(entry) = entry {
            return self.convert.entry_head(name, entry);
        }
        let mut head = ["fn ", name, "("].concat();
        let open = head.len();
        let mut add = |parts: &[&str]| {
            head.push_str(if head.len() == open { "" } else { ", " });
            parts.iter().for_each(|part| head.push_str(part));
        };
        for (at, parameter) in module.parameters(self.function).iter().enumerate() {
            if let Some(Some(StaticArgument::Pointer(targets))) = static_arguments.get(at) {
                let (names, pointer) = self.saved_names(parameter.id, targets.clone());
                names.iter().for_each(|name| add(&[name, ": u32"]));
                self.keep_pointer(parameter.id, pointer)?;
                continue;
            }
            if let Some(bound) = self.bindings.get(&parameter.id) {
                if bound.element == Element::Argument {
                    let name = self.convert.names.local("which");
                    add(&[&name, ": u32"]);
                    self.descriptor_numbers.insert(parameter.id, Expr::name(name));
                }
                continue;
            }
            let wanted_name = self.wanted_name(parameter.id);
            let local = self.convert.names.local(&wanted_name);
            match module.pointer_type(parameter.type_) {
                Some((StorageClass::Function, pointee)) => {
                    let text = self.convert.value_type(pointee)?;
                    add(&[&local, ": ptr<function, ", &text, ">"]);
                    self.remember(parameter.id, Text::of(&["(*", &local, ")"]), pointee);
                }
                Some((class, _)) => {
                    let what = format!("parameter %{} of function %{} points into {class:?}", parameter.id, self.function.id);
                    return Err(self.convert.refused(Why::Pointer, what));
                }
                None => {
                    let text = self.convert.value_type(parameter.type_)?;
                    add(&[&local, ": ", &text]);
                    self.values.insert(parameter.id, Expr::name(local));
                }
            }
        }
        for input in self.convert.input_parameters.get(&self.function.id).cloned().unwrap_or_default() {
            let type_ = module.variable(input).map_or(0, |variable| variable.type_);
            let (wanted_name, text) = (self.wanted_name(input), self.convert.value_type(type_)?);
            let local = self.convert.names.local(&wanted_name);
            add(&[&local, ": ", &text]);
            self.remember(input, local, type_);
        }
        head.push(')');
        if !matches!(module.types().get(self.function.result_type), Some(Type::Void)) {
            head.push_str(" -> ");
            head.push_str(&self.convert.value_type(self.function.result_type)?);
        }
        Ok(head)
    }

    pub(super) fn wanted_name(&self, id: u32) -> Text {
        self.convert.op_name(id).map_or_else(|| Text::numbered("x_", id.into(), ""), Text::from)
    }

    /// A name for a value, to be declared once in the function.
    fn name(&mut self, id: u32) -> Text {
        match self.convert.op_names.get(&id) {
            Some(wanted_name) => self.convert.names.local(wanted_name),
            // Only ids have such names.
            None => Text::numbered("x_", id.into(), ""),
        }
    }

    /// Declares the variables of the function, at its beginning.
    fn variables(&mut self) -> Result<(), Refused> {
        let module = self.convert.module;
        for variable in module.locals(self.function) {
            if !self.usage.is_live(variable.instruction as usize) {
                continue;
            }
            let name = self.name(variable.id);
            let text = self.convert.value_type(variable.type_)?;
            match variable.initializer {
                Some(initial) => {
                    let initial = self.value(initial)?;
                    self.line_of(&["var ", &name, ": ", &text, " = ", &initial.text, ";"]);
                }
                None => self.line_of(&["var ", &name, ": ", &text, ";"]),
            }
            self.remember(variable.id, name, variable.type_);
        }
        Ok(())
    }

    /// Writes the return at the end of the text, which control may reach.
    fn end_of_function(&mut self) -> Result<(), Refused> {
        if self.is_entry {
            return self.return_from_entry(true);
        }
        if matches!(self.convert.module.types().get(self.function.result_type), Some(Type::Void)) {
            return Ok(());
        }
        self.return_zero()
    }

    /// Returns a value that nothing uses.
    fn return_zero(&mut self) -> Result<(), Refused> {
        if matches!(self.convert.module.types().get(self.function.result_type), Some(Type::Void)) {
            self.line_of(&["return;"]);
            return Ok(());
        }
        if !matches!(self.convert.module.types().get(self.function.result_type), Some(Type::Void)) {
            let zero = self.convert.zero(self.function.result_type, None)?;
            self.line_of(&["return ", &zero.text, ";"]);
        }
        Ok(())
    }

    /// Writes a line.
    pub(super) fn line(&mut self, text: String) {
        self.begin_line();
        self.out.push_str(&self.convert.plan.line(text));
        self.out.push('\n');
    }

    fn begin_line(&mut self) {
        self.out.push_str(&SPACES[..SPACES.len().min(4 * self.indent)]);
    }

    /// Writes the concatenation of some texts as a line.
    pub(super) fn line_of(&mut self, texts: &[&str]) {
        if self.convert.plan.changes_lines() {
            return self.line(texts.concat());
        }
        self.begin_line();
        texts.iter().for_each(|text| self.out.push_str(text));
        self.out.push('\n');
    }

    /// Whether every invocation of the workgroup reaches the current statement.
    pub(super) fn is_reached_by_all(&self) -> bool {
        self.is_entry && self.current == 0 && !self.may_have_left
    }

    /// Writes a switch with a clause for each number below a count. The last clause is the default.
    pub(super) fn clauses(
        &mut self,
        selector: &Expr,
        count: usize,
        each: &mut dyn FnMut(&mut Self, usize) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        self.line(format!("switch {} {{", selector.text));
        self.indent += 1;
        for at in 0..count {
            self.line(if at + 1 == count { "default: {".into() } else { format!("case {at}u: {{") });
            self.indent += 1;
            each(self, if self.convert.plan.takes_the_first_descriptor() { 0 } else { at })?;
            self.indent -= 1;
            self.line_of(&["}"]);
        }
        self.indent -= 1;
        self.line_of(&["}"]);
        Ok(())
    }

    /// Writes a return for the case that a called function has ended the invocation.
    fn return_if_killed(&mut self) -> Result<(), Refused> {
        if self.convert.plan.goes_on_behind_kills() {
            return Ok(());
        }
        let killed = self.convert.killed();
        self.line(format!("if {killed} {{"));
        self.indent += 1;
        if self.is_entry {
            self.return_from_entry(false)?
        } else {
            self.return_zero()?
        }
        self.indent -= 1;
        self.line_of(&["}"]);
        self.may_have_left = true;
        Ok(())
    }

    /// Whether a list that is not written yet calls a function that OpKill may end.
    fn kills_within(&self, list: ListId) -> bool {
        let calls = |node: Node| {
            let called = |i: &Instruction| i.is(Op::FunctionCall).then(|| i.operands(self.convert.module.words())[0]);
            self.code(node).iter().filter_map(called).any(|callee| self.convert.kills.contains(&callee))
        };
        let within = |list: ListId| deep(|| self.kills_within(list));
        self.tree.lists[list as usize].items.iter().any(|item| match item {
            Item::Block(node) => calls(*node),
            Item::If { then, other, .. } => within(*then) || other.is_some_and(within),
            Item::Loop { body, continuing, .. } => within(*body) || continuing.is_some_and(within),
            Item::Switch { clauses, .. } => clauses.iter().any(|clause| within(clause.list)),
            Item::Among { list, .. } | Item::IfFlag { list, .. } => within(*list),
            _ => false,
        })
    }

    /// The argument of a call for an image or a sampler, and the meaning of the parameter.
    fn handle_argument(&mut self, id: u32) -> Result<(Option<Expr>, Bound), Refused> {
        let module = self.convert.module;
        let resource = self.handle(id, false)?;
        let variable = resource.variable;
        let is_array = |type_: Option<u32>| matches!(type_.and_then(|t| module.types().get(t)), Some(Type::Array { .. }));
        let pointee = module.type_of(id).and_then(|t| module.pointer_type(t)).map(|(_, pointee)| pointee);
        let is_whole = is_array(pointee) || !is_array(module.variable(variable).map(|v| v.type_));
        Ok(match resource.index {
            _ if is_whole => (None, Bound { variable, element: Element::All }),
            DescriptorIndex::Only(at) => (None, Bound { variable, element: Element::Only(at) }),
            DescriptorIndex::Any(index) => (Some(index), Bound { variable, element: Element::Argument }),
        })
    }

    fn nested(&mut self, list: ListId) -> Result<(), Refused> {
        self.indent += 1;
        let outer = std::mem::replace(&mut self.current, list);
        let result = self.list(list);
        self.current = outer;
        self.indent -= 1;
        result
    }

    fn list(&mut self, list: ListId) -> Result<(), Refused> {
        if self.out.len() > MAX_TEXT {
            return Err(self.convert.refused(Why::Limit, format!("the text would have more than {MAX_TEXT} bytes")));
        }
        for flag in std::mem::take(&mut self.tree.lists[list as usize].flags) {
            let flag = self.flags[flag as usize].clone();
            self.line_of(&["var ", &flag, " = false;"]);
        }
        for id in std::mem::take(&mut self.usage.hoisted[list as usize]) {
            if self.convert.module.type_of(id).is_some_and(|t| self.convert.module.pointer_type(t).is_some()) {
                self.declare_pointer(id)?;
                continue;
            }
            let name = self.name(id);
            let type_ = self.convert.module.type_of(id).unwrap_or(0);
            let text = self.convert.value_type(type_)?;
            self.line_of(&["var ", &name, ": ", &text, ";"]);
            self.values.insert(id, Expr::name(name));
        }
        let items = std::mem::take(&mut self.tree.lists[list as usize].items);
        let last = items.len().saturating_sub(1);
        for (at, item) in items.iter().enumerate() {
            self.item(item, list, at == last)?;
        }
        // Some front ends require a return after a loop that ends only by returns.
        if matches!(items.last(), Some(Item::Loop { falls: false, .. })) && !self.is_continuing(list) {
            return if self.is_entry { self.return_from_entry(true) } else { self.return_behind_loop() };
        }
        Ok(())
    }

    fn return_behind_loop(&mut self) -> Result<(), Refused> {
        match self.convert.module.types().get(self.function.result_type) {
            Some(Type::Void) => Ok(()),
            _ => self.return_zero(),
        }
    }

    /// Whether a list is within a continue construct.
    fn is_continuing(&self, mut list: ListId) -> bool {
        while let Some(at) = self.tree.lists.get(list as usize) {
            if at.continuing || at.depth == 0 {
                return at.continuing;
            }
            list = at.parent;
        }
        false
    }

    fn code(&self, node: Node) -> &'m [Instruction] {
        let module = self.convert.module;
        module.code(&module.function_blocks(self.function)[node as usize])
    }

    fn terminator_operand(&self, node: Node) -> u32 {
        let end = self.code(node).last();
        end.and_then(|end| end.operands(self.convert.module.words()).first().copied()).unwrap_or(0)
    }

    fn item(&mut self, item: &Item, list: ListId, last: bool) -> Result<(), Refused> {
        match item {
            Item::Block(node) => {
                let code = self.code(*node);
                let start = self.convert.module.function_blocks(self.function)[*node as usize].start as usize;
                for (at, i) in code[..code.len() - 1].iter().enumerate() {
                    self.instruction(start + at, i)?;
                }
            }
            Item::Copies(from, to) => {
                let copies = self.copies(*from, *to)?;
                self.assign(copies)?;
            }
            Item::If { block, negated, then, other } => {
                let condition = self.condition(*block, *negated)?;
                self.line_of(&["if ", &condition, " {"]);
                self.nested(*then)?;
                if let Some(other) = other {
                    self.line_of(&["} else {"]);
                    self.nested(*other)?;
                }
                self.line_of(&["}"]);
            }
            Item::Loop { body, continuing, exits, .. } => {
                // A continue construct cannot return. So a kill in it is tested at the start of the
                // body and after the loop.
                let kills = !self.is_continuing(list) && continuing.is_some_and(|list| self.kills_within(list));
                self.line_of(&["loop {"]);
                if kills {
                    self.indent += 1;
                    self.return_if_killed()?;
                    self.indent -= 1;
                }
                self.nested(*body)?;
                if continuing.is_some() || !exits {
                    self.indent += 1;
                    self.line_of(&["continuing {"]);
                    if let Some(continuing) = continuing {
                        self.nested(*continuing)?;
                    }
                    if !exits {
                        self.line_of(&["    break if false;"]);
                    }
                    self.line_of(&["}"]);
                    self.indent -= 1;
                }
                self.line_of(&["}"]);
                if kills {
                    self.return_if_killed()?;
                }
            }
            Item::Latch { block, header, merge, negated } => self.latch(*block, *header, *merge, *negated)?,
            Item::Switch { block, clauses } => {
                let mut selector = self.selector(*block)?;
                let tests_selector = |item: &Item| matches!(item, Item::Among { .. });
                if clauses.iter().any(|clause| self.tree.lists[clause.list as usize].items.iter().any(tests_selector)) {
                    // The memory that the selector was read from may change.
                    selector = self.bind(&selector)?;
                    if self.convert.plan.keeps_selectors() {
                        let id = self.terminator_operand(*block);
                        self.values.insert(id, selector.clone());
                    }
                    self.selectors.insert(*block, selector.clone());
                }
                self.line_of(&["switch ", &selector.text, " {"]);
                self.indent += 1;
                for clause in clauses {
                    let values: Result<Vec<Text>, Refused> = clause.values.iter().map(|&v| self.selector_value(*block, v)).collect();
                    let mut labels = values?;
                    if clause.default {
                        labels.push("default".into());
                    }
                    match &labels[..] {
                        [only] if &**only == "default" => self.line_of(&["default: {"]),
                        _ => self.line(format!("case {}: {{", labels.join(", "))),
                    }
                    self.nested(clause.list)?;
                    self.line_of(&["}"]);
                }
                self.indent -= 1;
                self.line_of(&["}"]);
            }
            Item::Among { block, values, negated, list } => {
                let selector = self.selector(*block)?;
                let mut tests = Vec::new();
                for &value in values {
                    let value = self.selector_value(*block, value)?;
                    tests.push(format!("{} {} {value}", selector.text, if *negated { "!=" } else { "==" }));
                }
                let condition = match tests.len() {
                    0 => if *negated { "true" } else { "false" }.to_string(),
                    1 => tests.remove(0),
                    _ => {
                        let tests: Vec<String> = tests.iter().map(|t| format!("({t})")).collect();
                        tests.join(if *negated { " & " } else { " | " })
                    }
                };
                self.line(format!("if {condition} {{"));
                self.nested(*list)?;
                self.line_of(&["}"]);
            }
            Item::Break => self.line_of(&["break;"]),
            Item::Continue => self.line_of(&["continue;"]),
            Item::End(node) => self.end(*node, list == 0 && last)?,
            Item::Set(flag) => {
                let line = format!("{} = true;", self.flags[*flag as usize]);
                self.line(line);
            }
            Item::IfFlag { flags, negated, list } => {
                let names: Vec<&str> = flags.iter().map(|&f| &*self.flags[f as usize]).collect();
                let condition = match (names.len(), negated) {
                    (1, false) => names[0].to_string(),
                    (1, true) => format!("!{}", names[0]),
                    (_, false) => names.join(" | "),
                    (_, true) => format!("!({})", names.join(" | ")),
                };
                self.line(format!("if {condition} {{"));
                self.nested(*list)?;
                self.line_of(&["}"]);
            }
        }
        Ok(())
    }

    fn condition(&mut self, node: Node, negated: bool) -> Result<Text, Refused> {
        let condition = self.value(self.terminator_operand(node))?;
        Ok(if negated { Expr::unary("!", &condition).text } else { condition.text })
    }

    fn selector(&mut self, node: Node) -> Result<Expr, Refused> {
        if let Some(selector) = self.selectors.get(&node) {
            return Ok(selector.clone());
        }
        let selector = self.value(self.terminator_operand(node))?;
        let selector = self.repeatable(&selector)?;
        self.selectors.insert(node, selector.clone());
        Ok(selector)
    }

    fn selector_value(&mut self, node: Node, value: u64) -> Result<Text, Refused> {
        let id = self.terminator_operand(node);
        let scalar = self.convert.module.shape(id).scalar;
        let literal = self.convert.scalar_literal(scalar, value)?;
        literal.ok_or_else(|| self.convert.refused(Why::Width, format!("the selector %{id} has no literals")))
    }

    /// The assignments to phis on an edge.
    fn copies(&mut self, from: Node, to: Node) -> Result<Vec<Copy>, Refused> {
        let module = self.convert.module;
        let label = module.function_blocks(self.function)[from as usize].label;
        let mut copies = Vec::new();
        if self.convert.plan.forgets_copies() {
            return Ok(copies);
        }
        for i in self.code(to) {
            if !i.is(Op::Phi) {
                if matches!(i.op, Op::Line | Op::NoLine) {
                    continue;
                }
                break;
            }
            if !module.definition(i.result).is_some_and(|index| self.usage.is_live(index)) {
                continue;
            }
            for pair in i.operands(module.words()).chunks_exact(2) {
                if pair[1] == label && !module.instruction(pair[0]).is_some_and(|i| i.is(Op::Undef)) {
                    let phi = i.result;
                    if is_saved(module, i) {
                        let pointer = self.pointer(pair[0])?;
                        let assigned = self.assign_pointer(phi, &pointer)?;
                        copies.extend(assigned.into_iter().map(|(name, value)| Copy { phi, name, value }));
                        break;
                    }
                    let value = self.value(pair[0])?;
                    let name = self.values.get(phi).map_or_else(Text::default, |v| v.text.clone());
                    copies.push(Copy { phi, name, value });
                    break;
                }
            }
        }
        Ok(copies)
    }

    /// Assigns phis in parallel: no assignment sees the new value of another phi.
    fn assign(&mut self, mut copies: Vec<Copy>) -> Result<(), Refused> {
        if !self.convert.plan.copies_in_turn() {
            for at in 1..copies.len() {
                if copies[..at].iter().any(|earlier| mentions(&copies[at].value.text, &earlier.name)) {
                    copies[at].value = self.bind(&copies[at].value.clone())?;
                }
            }
        }
        for Copy { name, value, .. } in &copies {
            if value.text != *name {
                self.line_of(&[name, " = ", &value.text, ";"]);
            }
        }
        Ok(())
    }

    /// Writes the end of a continue construct that may leave its loop. The phis of the header are
    /// assigned only if the loop goes on, and the phis of the merge block only if it ends.
    fn latch(&mut self, block: Node, header: Node, merge: Node, negated: bool) -> Result<(), Refused> {
        let (to_header, to_merge) = (self.copies(block, header)?, self.copies(block, merge)?);
        let mut condition = self.value(self.terminator_operand(block))?;
        let negated = negated != self.convert.plan.negates_latch();
        // If nothing after the loop reads the phis of its header, they may change in either case.
        let body = self.tree.list_of[header as usize];
        let header_phis_stay_inside =
            to_merge.is_empty() && to_header.iter().all(|copy| self.usage.stays_within(self.convert.module, copy.phi, body, &self.tree));
        if (header_phis_stay_inside || self.convert.plan.copies_on_every_edge()) && !to_header.is_empty() {
            if to_header.iter().any(|copy| mentions(&condition.text, &copy.name)) {
                condition = self.bind(&condition)?;
            }
            self.assign(to_header)?;
            self.assign(to_merge)?;
        } else if !to_header.is_empty() || !to_merge.is_empty() {
            condition = self.repeatable(&condition)?;
            let (mut test, mut copies, mut others) = (condition.clone(), to_header, to_merge);
            if !negated {
                std::mem::swap(&mut copies, &mut others);
            }
            if copies.is_empty() {
                test = Expr::unary("!", &test);
                std::mem::swap(&mut copies, &mut others);
            }
            self.line(format!("if {} {{", test.text));
            self.indent += 1;
            self.assign(copies)?;
            self.indent -= 1;
            if !others.is_empty() {
                self.line_of(&["} else {"]);
                self.indent += 1;
                self.assign(others)?;
                self.indent -= 1;
            }
            self.line_of(&["}"]);
        }
        let text = if negated { Expr::unary("!", &condition).text } else { condition.text };
        self.line_of(&["break if ", &text, ";"]);
        Ok(())
    }

    fn end(&mut self, node: Node, last: bool) -> Result<(), Refused> {
        let Some(end) = self.code(node).last().copied() else { return Ok(()) };
        self.may_have_left = true;
        match end.op {
            Op::Return if self.is_entry => self.return_from_entry(last),
            Op::Return => {
                if !last {
                    self.line_of(&["return;"]);
                }
                Ok(())
            }
            Op::ReturnValue => {
                let value = self.value(self.terminator_operand(node))?;
                self.line_of(&["return ", &value.text, ";"]);
                Ok(())
            }
            Op::Kill | Op::TerminateInvocation => {
                self.line_of(&["discard;"]);
                if self.is_entry {
                    return self.return_from_entry(false);
                }
                // WGSL goes on in the caller, which must end there too.
                let killed = self.convert.killed();
                self.line(format!("{killed} = true;"));
                self.return_zero()
            }
            op => Err(self.convert.refused_at(&end, Why::Instruction, format!("WGSL cannot end an invocation as Op{op:?} does"))),
        }
    }

    // Values.

    /// The spelling of an operand.
    pub(super) fn value(&mut self, id: u32) -> Result<Expr, Refused> {
        if let Some(value) = self.values.get(id) {
            return Ok(value.clone());
        }
        if self.convert.module.is_constant(id) {
            return self.constant(id, None);
        }
        let undefined = self.convert.module.instruction(id).filter(|i| i.is(Op::Undef));
        match undefined {
            Some(i) => self.convert.zero(i.result_type, None),
            None => Err(self.convert.refused(Why::Instruction, format!("the value %{id} has no form in WGSL"))),
        }
    }

    /// The spelling of a constant, with integers of that sign.
    pub(super) fn constant(&mut self, id: u32, as_signed: Option<bool>) -> Result<Expr, Refused> {
        if self.convert.specialized.has(id) {
            return self.specialized(id, as_signed);
        }
        let module = self.convert.module;
        let shape = module.shape(id);
        if (shape.rows, shape.columns) == (1, 1) {
            return self.scalar_constant(id, as_signed);
        }
        if !shape.is_data() || shape.columns > 1 {
            let large = module.instruction(id).is_some_and(|i| i.is(Op::ConstantComposite));
            if !large {
                return match self.convert.finite_constant(id, as_signed)? {
                    Some(constant) => Ok(constant),
                    None => self.infinite(id),
                };
            }
            return match self.convert.declared_constant(id)? {
                Some(name) => Ok(Expr { constant: true, ..Expr::name(name) }),
                None => self.infinite(id),
            };
        }
        match self.convert.finite_constant(id, as_signed)? {
            Some(constant) => Ok(constant),
            None => self.infinite(id),
        }
    }

    /// The spelling of a scalar constant. It is cached, since many instructions use the
    /// same constant.
    fn scalar_constant(&mut self, id: u32, as_signed: Option<bool>) -> Result<Expr, Refused> {
        if let Some(spelled) = self.convert.scalars.get(&(id, as_signed)) {
            return Ok(spelled.clone());
        }
        match self.convert.finite_constant(id, as_signed)? {
            Some(spelled) => {
                self.convert.scalars.insert((id, as_signed), spelled.clone());
                Ok(spelled)
            }
            None => self.infinite(id),
        }
    }

    /// A constant that contains NaN or an infinity.
    pub(super) fn infinite(&mut self, id: u32) -> Result<Expr, Refused> {
        let module = self.convert.module;
        let Some(constant) = module.instruction(id) else { return self.value(id) };
        let shape = module.shape(id);
        if (shape.rows, shape.columns) == (1, 1) {
            let bits = module.constant_value(id).unwrap_or(0);
            let bits = self.bind(&Expr::literal(format!("{bits:#x}u")))?;
            return Ok(match shape.scalar {
                // naga has no bitcast to two halves.
                Scalar::Float { width: 16 } => Expr::call("f16", &[Expr::call("unpack2x16float", &[bits]).member("x")]),
                _ => Expr::call("bitcast<f32>", &[bits]),
            });
        }
        let mut parts = Vec::new();
        for &part in constant.operands(module.words()) {
            parts.push(deep(|| self.constant(part, None))?);
        }
        let name = self.convert.value_type(constant.result_type)?;
        Ok(Expr::call(&name, &parts))
    }

    /// Gives the expression a name of its own.
    pub(super) fn bind(&mut self, value: &Expr) -> Result<Expr, Refused> {
        let name = self.convert.names.local("t");
        // Some front ends evaluate constants through `let`.
        let declares = if value.constant { "var" } else { "let" };
        self.line_of(&[declares, " ", &name, " = ", &value.text, ";"]);
        Ok(Expr::name(name))
    }

    /// The expression in a form that may be written twice: a name or a literal.
    pub(super) fn repeatable(&mut self, value: &Expr) -> Result<Expr, Refused> {
        if value.depth == 0 && value.level >= Level::Unary && !value.text.contains(['[', '.']) || value.constant && value.depth <= 1 {
            return Ok(value.clone());
        }
        self.bind(value)
    }

    /// Where the result of an instruction is spelled.
    pub(super) fn placement(&self, index: usize) -> Placement {
        self.usage.placement(index)
    }

    /// The value of an instruction in no block.
    pub(super) fn captured(&mut self, i: &Instruction, operands: &[u32]) -> Result<Expr, Refused> {
        self.capture = None;
        deep(|| self.compute(CAPTURED, i, operands))?;
        // A value that was made in a variable is in scope here only.
        let declared = self.values.remove(i.result);
        let value = self.capture.take().or(declared);
        value.ok_or_else(|| self.convert.refused_at(i, Why::Instruction, "WGSL has no such constant"))
    }

    /// Writes or records the value of an instruction, as its [`Placement`] says.
    pub(super) fn define(&mut self, index: usize, i: &Instruction, value: Expr) -> Result<(), Refused> {
        if index == CAPTURED {
            self.capture = Some(value);
            return Ok(());
        }
        match self.usage.placement(index) {
            Placement::Unused => Ok(()),
            Placement::Inline if value.depth < MAX_DEPTH && value.text.len() < MAX_WIDTH => {
                self.values.insert(i.result, value);
                Ok(())
            }
            Placement::Inline | Placement::Let => {
                let name = self.name(i.result);
                self.line_of(&["let ", &name, " = ", &value.text, ";"]);
                self.values.insert(i.result, Expr::name(name));
                Ok(())
            }
            Placement::Var(_) => {
                let name = self.values.get(i.result).map_or_else(Text::default, |v| v.text.clone());
                self.line_of(&[&name, " = ", &value.text, ";"]);
                Ok(())
            }
        }
    }

    /// Declares a variable with an initial value, of which parts will be changed. Returns its name.
    pub(super) fn variable_from(&mut self, index: usize, i: &Instruction, value: &Expr) -> Result<Text, Refused> {
        let name = match self.usage.placement(index) {
            Placement::Var(_) => {
                let name = self.values.get(i.result).map_or_else(Text::default, |v| v.text.clone());
                self.line(format!("{name} = {};", value.text));
                name
            }
            _ => {
                let name = match index {
                    // Each use makes a new variable.
                    CAPTURED => self.convert.names.local(&self.wanted_name(i.result)),
                    _ => self.name(i.result),
                };
                self.line_of(&["var ", &name, " = ", &value.text, ";"]);
                self.values.insert(i.result, Expr::name(name.clone()));
                name
            }
        };
        Ok(name)
    }

    fn instruction(&mut self, index: usize, original: &Instruction) -> Result<(), Refused> {
        let module = self.convert.module;
        if matches!(original.op, Op::Line | Op::NoLine | Op::Nop | Op::Phi | Op::Variable | Op::SelectionMerge | Op::LoopMerge | Op::Undef)
        {
            return Ok(());
        }
        if !self.usage.is_live(index) {
            return Ok(());
        }
        let i = &Instruction { op: self.convert.plan.op(original.op), ..*original };
        let operands = self.convert.plan.operands(i.op, i.operands(module.words()));
        let located = |error: Refused, this: &Self| match error.instruction {
            None => this.convert.refused_at(original, error.why, error.what),
            Some(_) => error,
        };
        let done = self.translate(index, i, &operands);
        done.map_err(|error| located(error, self))
    }

    /// Refuses a result whose numbers have a width that WGSL does not have.
    fn require_width(&self, i: &Instruction) -> Result<(), Refused> {
        let scalar = self.convert.module.shape(i.result).scalar;
        match scalar {
            Scalar::Int { width: 8 | 16 | 64, .. } | Scalar::Float { width: 64 } => Err(self.convert.no_scalar(scalar)),
            _ => Ok(()),
        }
    }

    fn translate(&mut self, index: usize, i: &Instruction, operands: &[u32]) -> Result<(), Refused> {
        let module = self.convert.module;
        match module.types().get(i.result_type) {
            // Images and samplers are named where they are used.
            Some(Type::Pointer { class: StorageClass::UniformConstant, .. }) => return Ok(()),
            Some(Type::Pointer { .. }) if is_saved(module, i) => return self.save_pointer(index, i, operands),
            Some(Type::Pointer { .. }) if self.makes_pointer(i) => {
                let place = if i.is(Op::CopyObject) { self.place(operands[0])? } else { self.chain(i)? };
                self.places.insert(i.result, place);
                return Ok(());
            }
            Some(type_) if type_.is_opaque() => return Ok(()),
            // No text names the type of an operand of another expression.
            Some(_) if i.result != 0 => self.require_width(i)?,
            _ => {}
        }
        match i.op {
            Op::Nop => Ok(()),
            Op::DemoteToHelperInvocation => {
                self.line_of(&["discard;"]);
                Ok(())
            }
            Op::MemoryBarrier => self.memory_barrier(index, i, operands),
            op if is_image(op) => self.image(index, i, operands),
            Op::Load => {
                let place = self.place(operands[0])?;
                let value = self.load(&place, i)?;
                self.define(index, i, value)
            }
            Op::Store => {
                let place = self.place(operands[0])?;
                let value = self.value(operands[1])?;
                self.store(&place, &value, i)
            }
            Op::CopyMemory => self.copy_memory(i),
            Op::ArrayLength => {
                let value = self.array_length(i)?;
                self.define(index, i, value)
            }
            Op::FunctionCall => self.call(index, i, operands),
            Op::ControlBarrier => self.control_barrier(i, operands),
            op if Op::AtomicLoad as u32 <= op as u32 && op as u32 <= Op::AtomicXor as u32 => self.atomic(index, i, operands),
            _ => self.compute(index, i, operands),
        }
    }

    fn call(&mut self, index: usize, i: &Instruction, operands: &[u32]) -> Result<(), Refused> {
        let module = self.convert.module;
        let Some(callee) = module.function(operands[0]) else {
            return Err(self.convert.refused_at(i, Why::Instruction, format!("%{} is no function", operands[0])));
        };
        let (mut arguments, mut bindings, mut copied) = (Vec::new(), Vec::new(), Vec::new());
        for &id in &operands[1..] {
            let type_ = module.type_of(id).unwrap_or(0);
            let is_opaque = module.types().get(type_).is_some_and(Type::is_opaque);
            if is_opaque || matches!(module.pointer_type(type_), Some((StorageClass::UniformConstant, _))) {
                let (argument, bound) = self.handle_argument(id)?;
                arguments.extend(argument);
                bindings.push(Some(StaticArgument::Variable(bound)));
                continue;
            }
            let is_pointer = module.pointer_type(type_).is_some();
            if is_pointer {
                let (call_arguments, static_argument) = match self.part_of_local(id) {
                    // WGSL passes no pointer to a part of a variable. A copy is passed, and
                    // copied back.
                    Some(part) => {
                        let name = self.convert.names.local("part");
                        let value = self.load(&part, i)?;
                        self.line(format!("var {name} = {};", value.text));
                        copied.push((part, name.clone()));
                        (vec![Expr::name(Text::of(&["&", &name]))], None)
                    }
                    None => self.pointer_argument(id, i)?,
                };
                arguments.extend(call_arguments);
                bindings.push(static_argument);
            } else {
                arguments.push(self.value(id)?);
                bindings.push(None);
            }
        }
        let mut inputs = self.convert.input_parameters.get(&callee.id).cloned().unwrap_or_default();
        if self.convert.plan.mixes_inputs() {
            inputs.reverse();
        }
        for input in inputs {
            arguments.push(Expr::name(self.place(input)?.text));
        }
        let name = self.convert.instance(callee, bindings)?;
        let call = Expr::call(&name, &arguments);
        match self.usage.placement(index) {
            Placement::Unused => self.line_of(&[&call.text, ";"]),
            _ => self.define(index, i, Expr { constant: false, ..call })?,
        }
        if self.convert.kills.contains(&callee.id) && !self.is_continuing(self.current) {
            self.return_if_killed()?;
        }
        for (part, name) in copied {
            self.store(&part, &Expr::name(name), i)?;
        }
        Ok(())
    }
}

/// Whether an instruction samples, reads, writes or queries an image.
fn is_image(op: Op) -> bool {
    let number = op as u32;
    Op::ImageSampleImplicitLod as u32 <= number && number <= Op::ImageWrite as u32
        || Op::ImageQuerySizeLod as u32 <= number && number <= Op::ImageQuerySamples as u32
}

/// Whether a text contains a name as a word.
fn mentions(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}
