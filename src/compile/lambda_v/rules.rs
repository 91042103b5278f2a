//! translate(I) = O, one function per section of report §6.
//!
//! O.code and O.consts are appended to those of the translator as they arise. That is the order in
//! which the report concatenates them. The functions return the rest of O. All substituted terms
//! are closed: the parameters of a rec-func become translated expressions before the body is
//! translated. So no variable can be captured (LV-4).

use super::emit::{fixed, typeid};
use super::{Site, Translator, Untranslatable, Witness};
use rspirv::spirv::{LoopControl, Op, SelectionControl};
use smallstep_semantics::lambda_v::builtin::{Builtin, Emit, index_below};
use smallstep_semantics::lambda_v::terms::{Extension, Node, Range, Replacement, TermId, deep};
use smallstep_semantics::lambda_v::types::{Elem, Ground, Type};
use smallstep_semantics::lambda_v::typing::rec_match::rec_match;
use smallstep_semantics::number::{Instruction, Op as Operation};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::write::Id;
use smallvec::SmallVec;

/// The terms that only the translation makes (the report's GE).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Translated {
    /// An expression already translated: its result and type.
    Value {
        /// O.ido.
        id: Id,
        /// O.type.
        ty: Ground,
    },
    /// `rec` of the rec-func whose frame has this number.
    Rec(u32),
}

impl Extension for Translated {
    fn frames(self) -> u32 {
        match self {
            Translated::Value { .. } => 0,
            Translated::Rec(frame) => frame + 1,
        }
    }
}

/// The argument stack: 0 is ∅, and i + 1 is entry i of the translator's stacks.
pub type StackId = u32;

/// I of report §6.
#[derive(Clone, Copy)]
pub struct Input {
    /// I.expr.
    pub expr: TermId,
    /// I.args.
    pub args: StackId,
    /// I.idc: the next usable id.
    pub idc: Id,
    /// I.idl: the label of the block that code is added to.
    pub idl: Id,
    /// I.rec: the number of the frame, and its continue block. The definitions of the parameters
    /// are in the terms.
    pub rec: Option<(u32, Id)>,
}

/// An edge to a continue block: its label and the ids of the arguments.
pub type Edge = (Id, SmallVec<[Id; 4]>);

/// O of report §6, except code and consts.
pub struct Output {
    /// O.ido. None if the expression only calls rec.
    pub ido: Option<Id>,
    /// O.idc.
    pub idc: Id,
    /// O.idl: the label of the block where the code ends. Meaningless if `ido` is None.
    pub idl: Id,
    /// O.type.
    pub ty: Type,
    /// O.rec: the edges to the continue block.
    pub rec: Vec<Edge>,
    /// The rule that made `ido`.
    pub rule: Rule,
}

type Translation = Result<Output, Untranslatable>;

impl Translator<'_> {
    /// translate(I) = O
    pub(super) fn translate(&mut self, i: Input) -> Translation {
        self.count_visit()?;
        let from = self.code.words.len();
        let node = self.terms.node(i.expr);
        let head = match node {
            Node::List(items) => self.terms.items(items).first().map(|&e0| self.terms.node(e0)),
            _ => None,
        };
        let (rule, o) = deep(|| match (node, head) {
            (Node::Num(bits), _) => (Rule::LvTrNum, self.tr_num(i, bits)),
            (Node::Bool(b), _) => (Rule::LvTrBool, self.tr_bool(i, b)),
            (Node::Ext(Translated::Value { id, ty }), _) => (Rule::LvTrParam, self.tr_param(i, id, ty)),
            (Node::Ext(Translated::Rec(frame)), _) => (Rule::LvTrRec, self.tr_rec(i, frame)),
            (Node::Let { values, body, .. }, _) => (Rule::LvTrLet, self.tr_let(i, values, body)),
            (Node::Func { names, body }, _) => (Rule::LvTrFunc, self.tr_func(i, names, body)),
            (Node::RecFunc { names, body }, _) => (Rule::LvTrRecFunc, self.tr_rec_func(i, names, body)),
            (Node::Builtin(builtin), _) => (Rule::LvTrBuiltin, self.tr_builtin(i, builtin)),
            (Node::If, _) => (Rule::LvTrIf, self.tr_if_applied(i)),
            (Node::List(_), Some(Node::If)) => (Rule::LvTrIf, self.tr_if(i, i.expr)),
            (Node::List(items), _) => (Rule::LvTrList, self.tr_list(i, items)),
            (Node::Var { .. }, _) => (Rule::LvTrParam, Err(self.ill_typed(i.expr, "a free variable"))),
        });
        let mut o = o?;
        self.rules.insert(rule);
        if let Some(planted) = self.options.planted.rule {
            planted(Site { rule, input: i, code: &mut self.code, from, consts: &mut self.consts, output: &mut o });
        }
        if let (true, 0, Some(id), Type::Ground(ty) | Type::Rec(ty)) = (self.options.witness, i.args, o.ido, o.ty) {
            self.witness.push(Witness { term: i.expr, id, ty, rule: o.rule });
        }
        Ok(o)
    }

    /// translate (func (idi) e) under (A, (ei)) as e[ei/idi] under A         [lv/tr-func, 000 §6.2]
    ///
    /// O = translate(e[ei/idi]) under A, for I.args = (A, (e1 … en))
    fn tr_func(&mut self, i: Input, names: Range, body: TermId) -> Translation {
        let (below, list) = self.stack(i.args).ok_or_else(|| self.ill_typed(i.expr, "a function is not applied"))?;
        let args = self.arguments(list);
        if args.len() != names.len() {
            return Err(self.ill_typed(list, "a function is applied to a wrong number of arguments"));
        }
        let expr = self.substituted(body, Replacement { args: &args, rec: None })?;
        self.translate(Input { expr, args: below, ..i })
    }

    /// num is a constant, no code                                             [lv/tr-num, 000 §6.3]
    ///
    /// O.consts = [I.idc ↦ num], O.ido = I.idc, no code
    fn tr_num(&mut self, i: Input, bits: u32) -> Translation {
        self.no_arguments(i)?;
        self.consts.push((i.idc, bits));
        self.mark(Ground::NUM);
        Ok(self.value(i.idc, i.idc + 1, i.idl, Ground::NUM, Rule::LvTrNum))
    }

    /// true and false are the constants of the header, no code               [lv/tr-bool, 000 §6.1]
    ///
    /// O.ido is the header's constant, no code
    fn tr_bool(&mut self, i: Input, b: bool) -> Translation {
        self.no_arguments(i)?;
        self.booleans[b as usize] = true;
        self.mark(Ground::BOOL);
        let id = if b { fixed::TRUE } else { fixed::FALSE };
        Ok(self.value(id, i.idc, i.idl, Ground::BOOL, Rule::LvTrBool))
    }

    /// translate (let ((idi ei)) e) as e[ei/idi]                              [lv/tr-let, 000 §6.4]
    ///
    /// O = translate(e[ei/idi]) under the same A
    fn tr_let(&mut self, i: Input, values: Range, body: TermId) -> Translation {
        let args: SmallVec<[TermId; 6]> = SmallVec::from_slice(self.terms.items(values));
        let expr = self.substituted(body, Replacement { args: &args, rec: None })?;
        self.translate(Input { expr, ..i })
    }

    /// translate (e0 e1 … en) under A as e0 under (A, (e1 … en))             [lv/tr-list, 000 §6.5]
    ///
    /// O = translate(e0) under (I.args, (e1 … en))
    fn tr_list(&mut self, i: Input, items: Range) -> Translation {
        let Some(&expr) = self.terms.items(items).first() else { return Err(self.ill_typed(i.expr, "the empty list is no expression")) };
        let args = self.push(i.args, i.expr);
        self.translate(Input { expr, args, ..i })
    }

    /// [`Translator::tr_if`] for an `if` that was passed as a value. Its operands are on the stack.
    fn tr_if_applied(&mut self, i: Input) -> Translation {
        match self.stack(i.args) {
            Some((below, list)) => self.tr_if(Input { args: below, ..i }, list),
            None => Err(self.ill_typed(i.expr, "if is not applied")),
        }
    }

    /// a selection: condition, branches, a phi of the values in the merge block
    ///                                                  [lv/tr-if, 000 §6.6; LV-11 to LV-14, LV-23]
    ///
    /// ```text
    ///                O_c.code
    ///                OpSelectionMerge (I.idc + 2) None
    ///                OpBranchConditional O_c.ido (I.idc + 0) (I.idc + 1)
    /// (I.idc + 0) =  OpLabel
    ///                O_t.code
    ///                OpBranch (I.idc + 2)                       [if O_t.type ≠ PureRec]
    /// (I.idc + 1) =  OpLabel
    ///                O_f.code
    ///                OpBranch (I.idc + 2)                       [if O_f.type ≠ PureRec]
    /// (I.idc + 2) =  OpLabel
    /// (I.idc + 3) =  OpPhi typeid(O.type) (O_t.ido O_t.idl)? (O_f.ido O_f.idl)?
    ///                OpUnreachable                       [instead of the phi, if both are PureRec]
    /// ```
    /// There is one numbering throughout (LV-11). The condition is translated under args = ∅
    /// (LV-12), and all constants are kept (LV-13). There is a merge block even if both branches
    /// call rec (LV-14), and O.type follows rec-match (LV-23).
    fn tr_if(&mut self, i: Input, list: TermId) -> Translation {
        let operands = self.arguments(list);
        let [condition, yes, no] = operands.as_slice() else { return Err(self.ill_typed(list, "if needs three expressions")) };
        let (true_label, false_label, merge, phi) = (i.idc, i.idc + 1, i.idc + 2, i.idc + 3);
        let c = self.translate(Input { expr: *condition, args: 0, idc: i.idc + 4, ..i })?;
        let (Some(c_ido), Type::Ground(Ground::BOOL)) = (c.ido, c.ty) else {
            return Err(self.ill_typed(*condition, "the condition is no Bool"));
        };
        self.code.push(Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
        self.code.push(Op::BranchConditional, &[c_ido, true_label, false_label]);
        self.code.push(Op::Label, &[true_label]);
        let t = self.translate(Input { expr: *yes, idc: c.idc, idl: true_label, ..i })?;
        if t.ido.is_some() {
            self.code.push(Op::Branch, &[merge]);
        }
        self.code.push(Op::Label, &[false_label]);
        let f = self.translate(Input { expr: *no, idc: t.idc, idl: false_label, ..i })?;
        if f.ido.is_some() {
            self.code.push(Op::Branch, &[merge]);
        }
        self.code.push(Op::Label, &[merge]);
        let Some((ty, _)) = rec_match(t.ty, f.ty) else { return Err(self.ill_typed(list, "rec-match does not combine the branches")) };
        let mut rec = t.rec;
        rec.extend(f.rec);
        let mut o = Output { ido: None, idc: f.idc, idl: merge, ty, rec, rule: Rule::LvTrIf };
        match ty {
            Type::PureRec => self.code.push(Op::Unreachable, &[]),
            Type::Ground(ground) | Type::Rec(ground) => {
                let parents: SmallVec<[u32; 4]> =
                    [(t.ido, t.idl), (f.ido, f.idl)].into_iter().filter_map(|(ido, idl)| Some([ido?, idl])).flatten().collect();
                let ty = self.typeid(ground);
                self.code.push_with(Op::Phi, &[ty, phi], &parents);
                o.ido = Some(phi);
            }
        }
        Ok(o)
    }

    /// the arguments' code, then the builtin's instruction         [lv/tr-builtin, 000 §6.7; LV-15]
    ///
    /// The code of each argument follows that of the one before, with idc and idl passed along
    /// (LV-15). Then comes one instruction with result I.idc.
    fn tr_builtin(&mut self, i: Input, builtin: Builtin) -> Translation {
        let (below, list) = self.stack(i.args).ok_or_else(|| self.ill_typed(i.expr, "a builtin is not applied"))?;
        if below != 0 {
            return Err(self.ill_typed(list, "a value is applied to arguments"));
        }
        let args = self.arguments(list);
        let column = builtin.row().overloads[0].emit == Emit::Column;
        let mut at = Input { args: 0, idc: i.idc + 1, ..i };
        let mut ids: SmallVec<[Id; 4]> = SmallVec::new();
        let mut types: SmallVec<[Ground; 4]> = SmallVec::new();
        for (k, &expr) in args.iter().enumerate() {
            if column && k == 0 {
                // The literal index is part of the instruction, not an operand with an id.
                types.push(Ground::NUM);
                continue;
            }
            let o = self.operand(Input { expr, ..at })?;
            ids.push(o.0);
            types.push(o.1);
            (at.idc, at.idl) = (o.2, o.3);
        }
        let Some(resolved) = builtin.resolve(&types) else { return Err(self.ill_typed(list, "no overload of the builtin fits")) };
        let ty = self.typeid(resolved.result);
        let result = i.idc;
        match resolved.emit {
            Emit::Compute(op) => self.compute(op, ty, result, &ids),
            Emit::Swapped(op) => self.compute(op, ty, result, &[ids[1], ids[0]]),
            Emit::Construct => self.code.push_with(Op::CompositeConstruct, &[ty, result], &ids),
            Emit::Extract(component) => self.code.push(Op::CompositeExtract, &[ty, result, ids[0], component as u32]),
            Emit::Column => {
                let index = match self.terms.node(args[0]) {
                    Node::Num(bits) => index_below(f32::from_bits(bits), types[1].columns()),
                    _ => None,
                };
                let Some(index) = index else { return Err(self.ill_typed(args[0], "the column index is no literal in range")) };
                self.code.push(Op::CompositeExtract, &[ty, result, ids[0], index as u32]);
            }
            Emit::Identity => return Ok(self.value(ids[0], at.idc, at.idl, resolved.result, Rule::LvTrBuiltin)),
            Emit::FragCoord => {
                self.frag_coord = true;
                self.code.push(Op::Load, &[ty, result, fixed::FRAG_COORD]);
            }
        }
        Ok(self.value(result, at.idc, at.idl, resolved.result, Rule::LvTrBuiltin))
    }

    fn compute(&mut self, op: Operation, ty: Id, result: Id, operands: &[Id]) {
        match op.instruction() {
            Instruction::Core(opcode) => {
                let Some(core) = Op::from_u32(opcode as u32) else { unreachable!("{op:?} names no instruction of the grammar") };
                self.code.push_with(core, &[ty, result], operands);
                if super::module::is_contractible(core) {
                    self.arithmetic.push(result);
                }
            }
            Instruction::Glsl(number) => {
                self.glsl = true;
                self.code.push_with(Op::ExtInst, &[ty, result, fixed::GLSL, number], operands);
                // All functions of λV are arithmetic on floats.
                self.arithmetic.push(result);
            }
        }
    }

    /// a loop: header phis of the parameters, body, continue block with a phi per parameter
    ///                                              [lv/tr-rec-func, 000 §6.8; LV-16, LV-17, LV-24]
    ///
    /// ```text
    /// hb = I.idc + 0, cb = + 1, lb = + 2, mb = + 3, O_0.idc = + 4
    ///
    ///                     O_i.code                                                 [for i = 1..n]
    ///                     OpBranch hb
    ///                hb = OpLabel
    ///   (O_n.idc + i - 1) = OpPhi typeid(O_i.type) O_i.ido O_n.idl (O_n.idc + n + i - 1) cb [for i
    ///       = 1..n]
    ///                     OpLoopMerge mb cb None
    ///                     OpBranch lb
    ///                lb = OpLabel
    ///                     O_b.code                    from idc O_n.idc + 2n
    ///                     OpBranch mb
    ///                cb = OpLabel
    /// (O_n.idc + n + i - 1) = OpPhi typeid(O_i.type) (bid_k^i block_k)… [for i = 1..n, k = 1..m]
    ///                     OpBranch hb
    ///                mb = OpLabel
    /// ```
    /// The code of the arguments is before the branch, and the phis of the header name the block
    /// where that code ends (LV-16). Every rec has its own edge to cb (LV-17). The ids of the body
    /// start after those of the phis (LV-24). O.rec is ∅.
    fn tr_rec_func(&mut self, i: Input, names: Range, body: TermId) -> Translation {
        let (below, list) = self.stack(i.args).ok_or_else(|| self.ill_typed(i.expr, "a recursive function is not applied"))?;
        let args = self.arguments(list);
        if below != 0 || args.len() != names.len() {
            return Err(self.ill_typed(list, "a recursive function is applied to wrong arguments"));
        }
        let (hb, cb, lb, mb) = (i.idc, i.idc + 1, i.idc + 2, i.idc + 3);
        let mut at = Input { args: 0, idc: i.idc + 4, ..i };
        let mut operands: SmallVec<[(Id, Ground); 4]> = SmallVec::new();
        for &expr in &args {
            let o = self.operand(Input { expr, ..at })?;
            operands.push((o.0, o.1));
            (at.idc, at.idl) = (o.2, o.3);
        }
        let n = operands.len() as Id;
        let header_phi = |k: usize| at.idc + k as Id;
        let continue_phi = |k: usize| at.idc + n + k as Id;
        self.code.push(Op::Branch, &[hb]);
        self.code.push(Op::Label, &[hb]);
        for (k, &(id, ty)) in operands.iter().enumerate() {
            let ty = self.typeid(ty);
            self.code.push(Op::Phi, &[ty, header_phi(k), id, at.idl, continue_phi(k), cb]);
        }
        self.code.push(Op::LoopMerge, &[mb, cb, LoopControl::NONE.bits()]);
        self.code.push(Op::Branch, &[lb]);
        self.code.push(Op::Label, &[lb]);

        // This number does not occur in the body. So every rec in it belongs to an outer frame.
        let number = self.terms.frames(body);
        let span = self.terms.span(i.expr);
        let mut params: SmallVec<[TermId; 6]> = SmallVec::new();
        for (k, &(_, ty)) in operands.iter().enumerate() {
            params.push(self.terms.add(Node::Ext(Translated::Value { id: header_phi(k), ty }), span)?);
        }
        let rec = self.terms.add(Node::Ext(Translated::Rec(number)), span)?;
        let expr = self.substituted(body, Replacement { args: &params, rec: Some(rec) })?;
        let b = self.translate(Input { expr, args: 0, idc: at.idc + 2 * n, idl: lb, rec: Some((number, cb)) })?;
        let (Some(b_ido), Type::Rec(ty)) = (b.ido, b.ty) else { return Err(self.ill_typed(i.expr, "the body is no Rec τ")) };

        self.code.push(Op::Branch, &[mb]);
        self.code.push(Op::Label, &[cb]);
        for (k, &(_, ty)) in operands.iter().enumerate() {
            let ty = self.typeid(ty);
            let edges: SmallVec<[u32; 8]> = b.rec.iter().flat_map(|(block, ids)| [ids[k], *block]).collect();
            self.code.push_with(Op::Phi, &[ty, continue_phi(k)], &edges);
        }
        self.code.push(Op::Branch, &[hb]);
        self.code.push(Op::Label, &[mb]);
        Ok(self.value(b_ido, b.idc, mb, ty, Rule::LvTrRecFunc))
    }

    /// the arguments' code, then a branch to the continue block
    ///                                                          [lv/tr-rec, 000 §6.9; LV-18, LV-25]
    ///
    /// The arguments' code comes first, in the frame in which the arguments are (LV-18). Then comes
    /// OpBranch to the continue block. The edge starts where that code ends (LV-25).
    fn tr_rec(&mut self, i: Input, frame: u32) -> Translation {
        let (below, list) = self.stack(i.args).ok_or_else(|| self.ill_typed(i.expr, "rec is not applied"))?;
        let Some((number, cont)) = i.rec else { return Err(self.ill_typed(list, "rec stands outside its rec-func")) };
        if below != 0 || number != frame {
            return Err(self.ill_typed(list, "rec belongs to another rec-func"));
        }
        let mut at = Input { args: 0, ..i };
        let mut ids = SmallVec::new();
        for expr in self.arguments(list) {
            let o = self.operand(Input { expr, ..at })?;
            ids.push(o.0);
            (at.idc, at.idl) = (o.2, o.3);
        }
        self.code.push(Op::Branch, &[cont]);
        Ok(Output { ido: None, idc: at.idc, idl: at.idl, ty: Type::PureRec, rec: vec![(at.idl, ids)], rule: Rule::LvTrRec })
    }

    /// a rec-func parameter is the result id of its header phi             [lv/tr-param, 000 §6.10]
    ///
    /// O.ido and O.type are those of the header's phi. There is no code.
    fn tr_param(&mut self, i: Input, id: Id, ty: Ground) -> Translation {
        self.no_arguments(i)?;
        Ok(self.value(id, i.idc, i.idl, ty, Rule::LvTrParam))
    }

    /// Translates an argument. Returns its id and type, the next id, and the label. Arguments are
    /// values, so they never call rec, and control reaches their end.
    fn operand(&mut self, i: Input) -> Result<(Id, Ground, Id, Id), Untranslatable> {
        let o = self.translate(i)?;
        match (o.ido, o.ty) {
            (Some(id), Type::Ground(ty)) => Ok((id, ty, o.idc, o.idl)),
            _ => Err(self.ill_typed(i.expr, "an argument is no value")),
        }
    }

    fn value(&self, ido: Id, idc: Id, idl: Id, ty: Ground, rule: Rule) -> Output {
        Output { ido: Some(ido), idc, idl, ty: Type::Ground(ty), rec: Vec::new(), rule }
    }

    fn no_arguments(&self, i: Input) -> Result<(), Untranslatable> {
        if i.args == 0 { Ok(()) } else { Err(self.ill_typed(i.expr, "a value is applied to arguments")) }
    }

    fn typeid(&mut self, ty: Ground) -> Id {
        self.mark(ty);
        typeid(ty)
    }

    /// Records that the header must declare the type and its component types.
    pub(super) fn mark(&mut self, ty: Ground) {
        match ty {
            Ground::Vec(n, e) => {
                self.types[typeid(Ground::Vec(1, e)) as usize] = true;
                self.types[typeid(Ground::Vec(n, e)) as usize] = true;
            }
            Ground::Mat(n) => {
                self.mark(Ground::Vec(n, Elem::F));
                self.types[typeid(ty) as usize] = true;
            }
        }
    }
}
