//! The rule names of every judgement, in one registry.
//!
//! A rule is named `family/rule`, such as `lv/t-if`. The function of the rule has the same name,
//! with `_` for `-`. `RULES.md` is printed from this registry. The coverage test of `spec-tests`
//! keeps registry, cases and code consistent.

/// The judgement that a rule belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Judgement {
    /// R, A ⊢ e : τ (report §5).
    Typing,
    /// rec-match(τ1, τ2) = τ (report §5).
    RecMatch,
    /// e → e' (report §4).
    Reduction,
    /// S → S' (report §3).
    Spirv,
    /// S → S' for the instructions that the report does not have, with actions
    /// on what invocations share.
    Invocation,
    /// G → G': what several invocations do together.
    Grid,
    /// translate(I) = O (report §6.2–6.10).
    Translation,
    /// The module around the translated code (report §6.11).
    ModuleCreation,
    /// A text is a list of tokens (seed 004 "Lexical analysis").
    Lexing,
    /// Tokens are a program (seed 004 "Parsing").
    Grammar,
    /// s ⇝ s' (seed 004 "Parsing").
    Desugaring,
    /// Declarations make a global environment, and a valid one (seed 004 "Building the global
    /// typing environment", "Other validation steps").
    Environment,
    /// Γ ⊢ s : B (seed 004 "Typing statements").
    StatementTyping,
    /// Γ ⊢ e : τ, may discard or not (seed 004 "Typing expressions").
    ExpressionTyping,
    /// The inputs and outputs of an entry point (seed 004 "Entry Points", "Built-in Variables").
    EntryPoint,
    /// The types and functions that every program has (seed 004 "Standard library").
    Library,
    /// ρ ⊢ s → s' (seed 004 "Execution of statements").
    StatementExecution,
    /// ρ ⊢ e → e' (seed 004 "Execution of expressions").
    ExpressionExecution,
    /// G → G' (seed 004 "Barriers and discard"): what the threads of a group do together.
    GroupExecution,
    /// D → D' (seed 004 "Graphics Pipeline"): what becomes of the vertices and fragments of a draw.
    Draw,
    /// G, CF ⊢ s : B, C and G, CF ⊢ e : C, with the implications that they add (seed 001).
    Uniformity,
    /// WSL to SPIR-V (seed 003): the instructions for each construct.
    Codegen,
}

impl Judgement {
    /// Every judgement, in the order of the registry.
    pub const ALL: [Judgement; 22] = [
        Judgement::Typing,
        Judgement::RecMatch,
        Judgement::Reduction,
        Judgement::Spirv,
        Judgement::Invocation,
        Judgement::Grid,
        Judgement::Translation,
        Judgement::ModuleCreation,
        Judgement::Lexing,
        Judgement::Grammar,
        Judgement::Desugaring,
        Judgement::Environment,
        Judgement::StatementTyping,
        Judgement::ExpressionTyping,
        Judgement::EntryPoint,
        Judgement::Library,
        Judgement::StatementExecution,
        Judgement::ExpressionExecution,
        Judgement::GroupExecution,
        Judgement::Draw,
        Judgement::Uniformity,
        Judgement::Codegen,
    ];

    /// The form of the judgement.
    pub fn form(self) -> &'static str {
        match self {
            Judgement::Typing => "R, A ⊢ e : τ",
            Judgement::RecMatch => "rec-match(τ1, τ2) = τ",
            Judgement::Reduction => "e → e'",
            Judgement::Spirv => "M, I, c, p → M', I', c', p'",
            Judgement::Invocation => "M, I, c, p → M', I', c', p', actions",
            Judgement::Grid => "G → G'",
            Judgement::Translation => "translate(I) = O",
            Judgement::ModuleCreation => "module(O) = words",
            Judgement::Lexing => "text ⊢ tokens",
            Judgement::Grammar => "tokens ⊢ program",
            Judgement::Desugaring => "s ⇝ s'",
            Judgement::Environment => "declarations ⊢ Γ",
            Judgement::StatementTyping => "Γ ⊢ s : B",
            Judgement::ExpressionTyping => "Γ ⊢ e : τ, d",
            Judgement::EntryPoint => "Γ ⊢ entry point",
            Judgement::Library => "Γ0",
            Judgement::StatementExecution => "ρ ⊢ s → s', events",
            Judgement::ExpressionExecution => "ρ ⊢ e → e', events",
            Judgement::GroupExecution => "G → G'",
            Judgement::Draw => "D → D'",
            Judgement::Uniformity => "G, CF ⊢ s : B, C",
            Judgement::Codegen => "WSL ⇒ SPIR-V",
        }
    }
}

#[macro_use]
mod uniformity;
#[macro_use]
mod uniformity_flow;
#[macro_use]
mod wsl_codegen;
#[macro_use]
mod wsl_execution;
#[macro_use]
mod wsl_library;
#[macro_use]
mod wsl_syntax;
#[macro_use]
mod wsl_typing;

// The macro in each file adds its rows to the rows that it receives, and passes all of them to the
// first macro of its list. The last macro, `rules`, makes the registry.
macro_rules! rules {
    ($($variant:ident $name:literal $judgement:ident $source:literal $item:literal $statement:literal;)*) => {
        /// A rule of one of the judgements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Rule {
            $(#[doc = concat!("`", $name, "`, ", $source, ": see [`Rule::statement`].")] $variant,)*
        }

        impl Rule {
            /// Every rule, in registry order.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant,)*];

            /// The stable name, such as `lv/t-if`.
            pub fn name(self) -> &'static str {
                match self { $(Rule::$variant => $name,)* }
            }

            /// The judgement that the rule helps to define.
            pub fn judgement(self) -> Judgement {
                match self { $(Rule::$variant => Judgement::$judgement,)* }
            }

            /// The source of the rule: seed document and section.
            pub fn source(self) -> &'static str {
                match self { $(Rule::$variant => $source,)* }
            }

            /// The path of the rule's Rust function.
            pub fn item(self) -> &'static str {
                match self { $(Rule::$variant => $item,)* }
            }

            /// The rule in one line. It also stands above the rule's function: the coverage test of
            /// `spec-tests` checks that the two are equal.
            pub fn statement(self) -> &'static str {
                match self { $(Rule::$variant => $statement,)* }
            }
        }
    };
}

impl Rule {
    /// The rule with this name.
    pub fn from_name(name: &str) -> Option<Rule> {
        Rule::ALL.iter().copied().find(|r| r.name() == name)
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

uniformity_flow_rules! { uniformity_rules wsl_syntax_rules wsl_typing_rules wsl_execution_rules wsl_library_rules wsl_codegen_rules rules
    // Typing, report §5.
    LvTNum "lv/t-num" Typing "000 §5" "lambda_v::typing::rules::t_num" "R, ∅ ⊢ num : Num";
    LvTTrue "lv/t-true" Typing "000 §5" "lambda_v::typing::rules::t_true" "R, ∅ ⊢ true : Bool";
    LvTFalse "lv/t-false" Typing "000 §5" "lambda_v::typing::rules::t_false" "R, ∅ ⊢ false : Bool";
    LvTParam "lv/t-param" Typing "000 §5, §6.10; LV-22" "lambda_v::typing::rules::t_param" "R, ∅ ⊢ id : τ, for a rec-func parameter bound to a τ";
    LvTIf "lv/t-if" Typing "000 §5" "lambda_v::typing::rules::t_if" "∅, ∅ ⊢ e1 : Bool and R, A ⊢ e2 : τ1 and R, A ⊢ e3 : τ2 give R, A ⊢ (if e1 e2 e3) : rec-match(τ1, τ2)";
    LvTApp "lv/t-app" Typing "000 §5" "lambda_v::typing::rules::t_app" "R, (A, (e1 … en)) ⊢ e0 : τ gives R, A ⊢ (e0 e1 … en) : τ";
    LvTFunc "lv/t-func" Typing "000 §5" "lambda_v::typing::rules::t_func" "R, A ⊢ e[ei/idi] : τ gives R, (A, (e1 … en)) ⊢ (func (id1 … idn) e) : τ";
    LvTLet "lv/t-let" Typing "000 §5; LV-7" "lambda_v::typing::rules::t_let" "R, A ⊢ e[ei/idi] : τ gives R, A ⊢ (let ((id1 e1) … (idn en)) e) : τ";
    LvTRecFunc "lv/t-rec-func" Typing "000 §5; LV-8, LV-22" "lambda_v::typing::rules::t_rec_func" "R, ∅ ⊢ ei : τi and no τi of the Rec kind and (τ1 … τn), ∅ ⊢ e[(idi : τi)/idi] : Rec τ give R, ((e1 … en)) ⊢ (rec-func (id1 … idn) e) : τ";
    LvTRec "lv/t-rec" Typing "000 §5" "lambda_v::typing::rules::t_rec" "n > 0 and ∅, ∅ ⊢ ei : τi give (τ1 … τn), ((e1 … en)) ⊢ rec : PureRec";
    LvTBuiltin "lv/t-builtin" Typing "000 §5" "lambda_v::typing::rules::t_builtin" "builtin of type (τ1 … τn) → τ and ∅, ∅ ⊢ ei : τi give R, ((e1 … en)) ⊢ builtin : τ";

    LvRecMatchSame "lv/rec-match-same" RecMatch "000 §5" "lambda_v::typing::rec_match::same" "rec-match(τ, τ) = τ";
    LvRecMatchRecLeft "lv/rec-match-rec-left" RecMatch "000 §5" "lambda_v::typing::rec_match::rec_left" "rec-match(Rec τ, τ) = Rec τ";
    LvRecMatchRecRight "lv/rec-match-rec-right" RecMatch "000 §5" "lambda_v::typing::rec_match::rec_right" "rec-match(τ, Rec τ) = Rec τ";
    LvRecMatchPureLeftRec "lv/rec-match-pure-left-rec" RecMatch "000 §5" "lambda_v::typing::rec_match::pure_left_rec" "rec-match(PureRec, Rec τ) = Rec τ";
    LvRecMatchPureRightRec "lv/rec-match-pure-right-rec" RecMatch "000 §5" "lambda_v::typing::rec_match::pure_right_rec" "rec-match(Rec τ, PureRec) = Rec τ";
    LvRecMatchPureRight "lv/rec-match-pure-right" RecMatch "000 §5" "lambda_v::typing::rec_match::pure_right" "rec-match(τ, PureRec) = Rec τ";
    LvRecMatchPureLeft "lv/rec-match-pure-left" RecMatch "000 §5" "lambda_v::typing::rec_match::pure_left" "rec-match(PureRec, τ) = Rec τ";

    // Reduction, report §4.
    LvELet "lv/e-let" Reduction "000 §4; LV-4" "lambda_v::step::e_let" "(let ((id1 e1) … (idn en)) e) → e[e1/id1, …, en/idn]";
    LvEIfTrue "lv/e-if-true" Reduction "000 §4" "lambda_v::step::e_if_true" "(if true e2 e3) → e2";
    LvEIfFalse "lv/e-if-false" Reduction "000 §4; LV-3" "lambda_v::step::e_if_false" "(if false e2 e3) → e3";
    LvEIfCond "lv/e-if-cond" Reduction "000 §4; LV-3" "lambda_v::step::e_if_cond" "e1 → e1' gives (if e1 e2 e3) → (if e1' e2 e3)";
    LvEFunc "lv/e-func" Reduction "000 §4; LV-4" "lambda_v::step::e_func" "((func (id1 … idn) e) e1 … en) → e[e1/id1, …, en/idn]";
    LvERecArg "lv/e-rec-arg" Reduction "000 §4; LV-5" "lambda_v::step::e_rec_arg" "ei → ei' gives ((rec-func (id1 … idn) e) … ei …) → ((rec-func (id1 … idn) e) … ei' …)";
    LvERecFunc "lv/e-rec-func" Reduction "000 §4; LV-4, LV-5" "lambda_v::step::e_rec_func" "((rec-func (id1 … idn) e) v1 … vn) → e[v1/id1, …, vn/idn, (rec-func (id1 … idn) e)/rec]";
    LvEArg "lv/e-arg" Reduction "000 §4; LV-3" "lambda_v::step::e_arg" "ei → ei' gives (builtin … ei …) → (builtin … ei' …)";
    LvEBuiltin "lv/e-builtin" Reduction "000 §4" "lambda_v::step::e_builtin" "(builtin v1 … vn) → δ(builtin, v1, …, vn)";
    LvEApp "lv/e-app" Reduction "000 §4" "lambda_v::step::e_app" "e0 → e0' gives (e0 e1 … en) → (e0' e1 … en)";

    // SPIR-V, report §3.
    SpirvBranch "spirv/branch" Spirv "000 §3.1; LV-1" "spirv::relation::step::control::branch" "M, (OpBranch t), c, p → M, M(t), t, c";
    SpirvBranchConditionalTrue "spirv/branch-conditional-true" Spirv "000 §3.1" "spirv::relation::step::control::branch_conditional_true" "M(x) = true gives M, (OpBranchConditional x t f), c, p → M, M(t), t, c";
    SpirvBranchConditionalFalse "spirv/branch-conditional-false" Spirv "000 §3.1" "spirv::relation::step::control::branch_conditional_false" "M(x) = false gives M, (OpBranchConditional x t f), c, p → M, M(f), f, c";
    SpirvPhi "spirv/phi" Spirv "000 §3.1; LV-1, LV-2" "spirv::relation::step::control::phi" "p = parent_i(r) gives M, (r = OpPhi τ var_1 parent_1 …, I), c, p → M[r ↦ M(var_i(r)) for all r together], I, c, p";
    SpirvNop "spirv/nop" Spirv "000 §3.3" "spirv::relation::step::miscellaneous::nop" "OpNop, OpSelectionMerge, OpLoopMerge, OpLine, OpNoLine as i: M, (i, I), c, p → M, I, c, p";
    SpirvCompute "spirv/compute" Spirv "000 §3.2" "spirv::relation::step::compute::compute" "M, (r = Op τ a…, I), c, p → M[r ↦ op(M(a)…)], I, c, p";
    SpirvExtInst "spirv/ext-inst" Spirv "000 §3.2; GLSL.std.450" "spirv::relation::step::compute::ext_inst" "M, (r = OpExtInst τ set f a…, I), c, p → M[r ↦ f(M(a)…)], I, c, p";
    SpirvCompositeConstruct "spirv/composite-construct" Spirv "000 §6.7" "spirv::relation::step::composite::composite_construct" "M, (r = OpCompositeConstruct τ a…, I), c, p → M[r ↦ (M(a)…)], I, c, p";
    SpirvCompositeExtract "spirv/composite-extract" Spirv "SPIR-V §3.3.12" "spirv::relation::step::composite::composite_extract" "M, (r = OpCompositeExtract τ a i…, I), c, p → M[r ↦ M(a).i…], I, c, p";
    SpirvAccessChain "spirv/access-chain" Spirv "SPIR-V §3.3.8" "spirv::relation::step::memory::access_chain" "M, (r = OpAccessChain τ b i…, I), c, p → M[r ↦ M(b).M(i)…], I, c, p, each M(i) in bounds";
    SpirvAccessChainOutOfBounds "spirv/access-chain-out-of-bounds" Spirv "SPIR-V §3.3.8" "spirv::relation::step::memory::access_chain_out_of_bounds" "M, (r = OpAccessChain τ b i…, I), c, p is undefined behaviour where some M(i) is out of bounds";
    SpirvLoad "spirv/load" Spirv "SPIR-V §3.3.8" "spirv::relation::step::memory::load" "M, (r = OpLoad τ a, I), c, p → M[r ↦ M(M(a))], I, c, p";
    SpirvStore "spirv/store" Spirv "SPIR-V §3.3.8" "spirv::relation::step::memory::store" "M, (OpStore a v, I), c, p → M[M(a) ↦ M(v)], I, c, p";
    SpirvReturn "spirv/return" Spirv "SPIR-V §3.3.17" "spirv::relation::step::function::return_" "M, (OpReturn), c, p in no call ends the invocation; M holds the observation";
    SpirvUnreachable "spirv/unreachable" Spirv "SPIR-V §3.3.17" "spirv::relation::step::control::unreachable" "M, (OpUnreachable), c, p is undefined behaviour";

    // SPIR-V beyond the report, by section of the specification.
    SpirvUndef "spirv/undef" Invocation "SPIR-V §3.3.1" "spirv::relation::step::miscellaneous::undef" "M, (r = OpUndef τ, I), c, p → M[r ↦ any τ], I, c, p";
    SpirvVariable "spirv/variable" Invocation "SPIR-V §3.3.8" "spirv::relation::step::memory::variable" "M, (r = OpVariable τ Function (v), I), c, p → M[r ↦ a pointer to what holds M(v), or any value], I, c, p";
    SpirvAccessChainUndefined "spirv/access-chain-undefined" Invocation "SPIR-V 1.6 revision 7, Poison" "spirv::relation::step::memory::access_chain_undefined" "M, (r = OpAccessChain τ b i…, I), c, p is undefined behaviour where some M(i) is undefined, and OpPtrAccessChain";
    SpirvCopyMemory "spirv/copy-memory" Invocation "SPIR-V §3.3.8" "spirv::relation::step::memory::copy_memory" "M, (OpCopyMemory a b, I), c, p → M[M(a) ↦ M(M(b))], I, c, p";
    SpirvCopyMemoryOverlapping "spirv/copy-memory-overlapping" Invocation "SPIR-V §3.3.8" "spirv::relation::step::memory::copy_memory_overlapping" "M, (OpCopyMemory a b, I), c, p is undefined behaviour where M(a) and M(b) overlap in part";
    SpirvArrayLength "spirv/array-length" Invocation "SPIR-V §3.3.8" "spirv::relation::step::memory::array_length" "M, (r = OpArrayLength τ a m, I), c, p → M[r ↦ how many elements member m of M(M(a)) has], I, c, p";
    SpirvMisaligned "spirv/misaligned-access" Invocation "SPIR-V §3.2.27" "spirv::relation::step::memory::misaligned_access" "M, (r = OpLoad τ a, I), c, p is undefined behaviour where M(a) is no multiple of its alignment, and whatever else accesses memory";
    SpirvPtrAccessChain "spirv/ptr-access-chain" Invocation "SPIR-V §3.3.8" "spirv::relation::step::pointer::ptr_access_chain" "M, (r = OpPtrAccessChain τ b e i…, I), c, p → M[r ↦ (M(b) + M(e)).M(i)…], I, c, p, M(b) + M(e) an element of the array of M(b) or, without i…, one past its end";
    SpirvPtrAccessChainOutOfBounds "spirv/ptr-access-chain-out-of-bounds" Invocation "SPIR-V §3.3.8" "spirv::relation::step::pointer::ptr_access_chain_out_of_bounds" "M, (r = OpPtrAccessChain τ b e i…, I), c, p is undefined behaviour where M(b) + M(e) is no element of the array of M(b), nor one past its end, or some M(i) is out of bounds";
    SpirvPtrEqual "spirv/ptr-equal" Invocation "SPIR-V §3.3.8" "spirv::relation::step::pointer::ptr_equal" "M, (r = OpPtrEqual τ a b, I), c, p → M[r ↦ M(a) = M(b)], I, c, p, and OpPtrNotEqual";
    SpirvPtrDiff "spirv/ptr-diff" Invocation "SPIR-V §3.3.8" "spirv::relation::step::pointer::ptr_diff" "M, (r = OpPtrDiff τ a b, I), c, p → M[r ↦ M(a) - M(b) in elements], I, c, p, both of one array";
    SpirvPtrDiffApart "spirv/ptr-diff-apart" Invocation "SPIR-V §3.3.8" "spirv::relation::step::pointer::ptr_diff_apart" "M, (r = OpPtrDiff τ a b, I), c, p is undefined behaviour where M(a) and M(b) are not of one array";
    SpirvSelectPointer "spirv/select-pointer" Invocation "SPIR-V §3.3.15" "spirv::relation::step::pointer::select_pointer" "M, (r = OpSelect τ x a b, I), c, p → M[r ↦ M(a)], I, c, p where M(x) holds, and otherwise M(b), of pointers";
    SpirvPointerToNothing "spirv/pointer-to-nothing" Invocation "SPIR-V §3.3.8" "spirv::relation::step::pointer::pointer_to_nothing" "M, (r = OpLoad τ a, I), c, p is undefined behaviour where M(a) is null, undefined or one past the end of an array, and whatever else accesses memory or a part of it";
    SpirvStoreReadOnly "spirv/store-read-only" Invocation "SPIR-V §3.2.20" "spirv::relation::step::pointer::store_read_only" "M, (OpStore a v, I), c, p is undefined behaviour where M(a) is NonWritable, and whatever else writes";
    SpirvFunctionCall "spirv/function-call" Invocation "SPIR-V §3.3.9" "spirv::relation::step::function::function_call" "M, (r = OpFunctionCall τ f a…, I), c, p → M[x ↦ M(a) for each parameter x of f], M(t), t, 0 in a call, t the first block of f";
    SpirvReturnToCaller "spirv/return-to-caller" Invocation "SPIR-V §3.3.17" "spirv::relation::step::function::return_to_caller" "M, (OpReturn), c, p in a call from I', c', p' → M, I', c', p'";
    SpirvReturnValue "spirv/return-value" Invocation "SPIR-V §3.3.17" "spirv::relation::step::function::return_value" "M, (OpReturnValue v), c, p in a call (r = OpFunctionCall …) from I', c', p' → M[r ↦ M(v)], I', c', p'";
    SpirvLoadDescriptor "spirv/load-descriptor" Invocation "SPIR-V §3.3.8" "spirv::relation::step::image::load_descriptor" "M, (r = OpLoad τ a, I), c, p → M[r ↦ the image, sampler or sampled image behind M(a)], I, c, p";
    SpirvSampledImage "spirv/sampled-image" Invocation "SPIR-V §3.3.10" "spirv::relation::step::image::sampled_image" "M, (r = OpSampledImage τ a s, I), c, p → M[r ↦ M(a) with M(s)], I, c, p";
    SpirvImage "spirv/image" Invocation "SPIR-V §3.3.10" "spirv::relation::step::image::image" "M, (r = OpImage τ a, I), c, p → M[r ↦ the image of M(a)], I, c, p";
    SpirvImageSampleImplicitLod "spirv/image-sample-implicit-lod" Invocation "SPIR-V §3.3.10" "spirv::relation::step::image::image_sample_implicit_lod" "M, (r = OpImageSampleImplicitLod τ a x b…, I), c, p → M[r ↦ M(a) sampled at M(x) with the level of detail of its derivatives in the quad], I, c, p once its invocations have arrived";
    SpirvImageSampleDrefImplicitLod "spirv/image-sample-dref-implicit-lod" Invocation "SPIR-V §3.3.10" "spirv::relation::step::image::image_sample_dref_implicit_lod" "M, (r = OpImageSampleDrefImplicitLod τ a x d b…, I), c, p → M[r ↦ M(a) sampled at M(x), each texel compared with M(d)], I, c, p likewise";
    SpirvImageSampleExplicitLod "spirv/image-sample-explicit-lod" Invocation "SPIR-V §3.3.10" "spirv::relation::step::image::image_sample_explicit_lod" "M, (r = OpImageSampleExplicitLod τ a x l…, I), c, p → M[r ↦ M(a) sampled at M(x) with the level of detail of M(l)…], I, c, p";
    SpirvImageSampleDrefExplicitLod "spirv/image-sample-dref-explicit-lod" Invocation "SPIR-V §3.3.10" "spirv::relation::step::image::image_sample_dref_explicit_lod" "M, (r = OpImageSampleDrefExplicitLod τ a x d l…, I), c, p → M[r ↦ M(a) sampled at M(x), each texel compared with M(d)], I, c, p";
    SpirvImageSampleProjExplicitLod "spirv/image-sample-proj-explicit-lod" Invocation "SPIR-V §3.3.10" "spirv::relation::step::image::image_sample_proj_explicit_lod" "M, (r = OpImageSampleProjExplicitLod τ a x l…, I), c, p → M[r ↦ M(a) sampled at M(x) over its last component], I, c, p";
    SpirvImageSampleProjDrefExplicitLod "spirv/image-sample-proj-dref-explicit-lod" Invocation "SPIR-V §3.3.10" "spirv::relation::step::image::image_sample_proj_dref_explicit_lod" "M, (r = OpImageSampleProjDrefExplicitLod τ a x d l…, I), c, p → M[r ↦ M(a) sampled at M(x), each texel compared with M(d), both over the last component of M(x)], I, c, p";
    SpirvImageFetch "spirv/image-fetch" Invocation "SPIR-V §3.3.10" "spirv::relation::step::image::image_fetch" "M, (r = OpImageFetch τ a x l…, I), c, p → M[r ↦ the texel of M(a) at M(x) of the level M(l)], I, c, p";
    SpirvImageGather "spirv/image-gather" Invocation "SPIR-V §3.3.10" "spirv::relation::step::image::image_gather" "M, (r = OpImageGather τ a x n, I), c, p → M[r ↦ component M(n) of the four texels around M(x)], I, c, p";
    SpirvImageDrefGather "spirv/image-dref-gather" Invocation "SPIR-V §3.3.10" "spirv::relation::step::image::image_dref_gather" "M, (r = OpImageDrefGather τ a x d, I), c, p → M[r ↦ the four texels around M(x), each compared with M(d)], I, c, p";
    SpirvImageRead "spirv/image-read" Invocation "SPIR-V §3.3.10" "spirv::relation::step::image::image_read" "M, (r = OpImageRead τ a x, I), c, p → M[r ↦ the texel of M(a) at M(x)], I, c, p";
    SpirvImageWrite "spirv/image-write" Invocation "SPIR-V §3.3.10" "spirv::relation::step::image::image_write" "M, (OpImageWrite a x v, I), c, p → M, I, c, p with M(v) as the texel of M(a) at M(x), if there is one";
    SpirvImageQuerySize "spirv/image-query-size" Invocation "SPIR-V §3.3.10" "spirv::relation::step::image::image_query_size" "M, (r = OpImageQuerySize τ a, I), c, p → M[r ↦ width, height and depth or layers of M(a)], I, c, p, as far as its type has them, and OpImageQuerySizeLod of the level M(l)";
    SpirvImageQueryLevels "spirv/image-query-levels" Invocation "SPIR-V §3.3.10" "spirv::relation::step::image::image_query_levels" "M, (r = OpImageQueryLevels τ a, I), c, p → M[r ↦ how many levels M(a) has], I, c, p";
    SpirvImageUndefined "spirv/image-undefined" Invocation "SPIR-V 1.6 revision 7, Poison" "spirv::relation::step::image::image_undefined" "M, (r = OpImage… τ a x…, I), c, p is undefined behaviour where a coordinate, an offset or a level of detail is undefined";
    SpirvExtInstStore "spirv/ext-inst-store" Invocation "GLSL.std.450" "spirv::relation::step::compute::ext_inst_store" "M, (r = OpExtInst τ set f a b, I), c, p → M[r ↦ x, M(b) ↦ y], I, c, p, x and y the results of f(M(a)), f one of Modf and Frexp";
    SpirvNonSemantic "spirv/non-semantic" Invocation "SPV_KHR_non_semantic_info" "spirv::relation::step::compute::non_semantic" "M, (r = OpExtInst τ set f a…, I), c, p → M, I, c, p, the set one that says nothing about meaning";
    SpirvDivisionByZero "spirv/division-by-zero" Invocation "SPIR-V §3.3.13" "spirv::relation::step::compute::division_by_zero" "M, (r = Op τ a b, I), c, p is undefined behaviour where M(b) has a 0, Op a division or remainder of integers";
    SpirvDivisionOverflow "spirv/division-overflow" Invocation "SPIR-V §3.3.13" "spirv::relation::step::compute::division_overflow" "M, (r = Op τ a b, I), c, p is undefined behaviour for the least integer and -1, Op a signed division or remainder";
    SpirvConversionRange "spirv/conversion-range" Invocation "SPIR-V §3.3.11" "spirv::relation::step::compute::conversion_range" "M, (r = OpConvertFToS τ a, I), c, p is undefined behaviour where τ does not hold M(a), and OpConvertFToU";
    SpirvWrap "spirv/wrap" Invocation "SPIR-V §3.2.20" "spirv::relation::step::compute::wrap" "M, (r = Op τ a…, I), c, p is undefined behaviour where r is decorated NoSignedWrap or NoUnsignedWrap and overflows";
    SpirvUndefinedOperand "spirv/undefined-operand" Invocation "SPIR-V §3.3.1, §3.3.11, §3.3.13" "spirv::relation::step::compute::undefined_operand" "M, (r = Op τ a…, I), c, p is undefined behaviour where it is so for one value of an undefined operand";
    SpirvCompositeInsert "spirv/composite-insert" Invocation "SPIR-V §3.3.12" "spirv::relation::step::composite::composite_insert" "M, (r = OpCompositeInsert τ v a i…, I), c, p → M[r ↦ M(a) with M(v) as its part i…], I, c, p";
    SpirvVectorShuffle "spirv/vector-shuffle" Invocation "SPIR-V §3.3.12" "spirv::relation::step::composite::vector_shuffle" "M, (r = OpVectorShuffle τ a b l…, I), c, p → M[r ↦ for each l, component l of M(a) and M(b) one after the other; where l is 0xFFFFFFFF, any], I, c, p";
    SpirvVectorExtractDynamic "spirv/vector-extract-dynamic" Invocation "SPIR-V §3.3.12" "spirv::relation::step::composite::vector_extract_dynamic" "M, (r = OpVectorExtractDynamic τ a i, I), c, p → M[r ↦ component M(i) of M(a)], I, c, p";
    SpirvVectorExtractDynamicOutOfBounds "spirv/vector-extract-dynamic-out-of-bounds" Invocation "SPIR-V §3.3.12" "spirv::relation::step::composite::vector_extract_dynamic_out_of_bounds" "M(i) undefined or no component gives M, (r = OpVectorExtractDynamic τ a i, I), c, p → M[r ↦ any τ], I, c, p";
    SpirvVectorInsertDynamic "spirv/vector-insert-dynamic" Invocation "SPIR-V §3.3.12" "spirv::relation::step::composite::vector_insert_dynamic" "M, (r = OpVectorInsertDynamic τ a v i, I), c, p → M[r ↦ M(a) with M(v) as its component M(i)], I, c, p";
    SpirvVectorInsertDynamicOutOfBounds "spirv/vector-insert-dynamic-out-of-bounds" Invocation "SPIR-V §3.3.12" "spirv::relation::step::composite::vector_insert_dynamic_out_of_bounds" "M(i) undefined or no component gives M, (r = OpVectorInsertDynamic τ a v i, I), c, p → M[r ↦ any τ], I, c, p";
    SpirvCopy "spirv/copy" Invocation "SPIR-V §3.3.12" "spirv::relation::step::composite::copy" "M, (r = OpCopyObject τ a, I), c, p → M[r ↦ M(a)], I, c, p, and OpCopyLogical";
    SpirvBranchConditionalUndefined "spirv/branch-conditional-undefined" Invocation "SPIR-V 1.6 revision 7, Poison" "spirv::relation::step::control::branch_conditional_undefined" "M, (OpBranchConditional x t f), c, p is undefined behaviour where M(x) is undefined";
    SpirvSwitchCase "spirv/switch-case" Invocation "SPIR-V §3.3.17" "spirv::relation::step::control::switch_case" "M(x) = n_i gives M, (OpSwitch x d n_1 t_1 …), c, p → M, M(t_i), t_i, c";
    SpirvSwitchDefault "spirv/switch-default" Invocation "SPIR-V §3.3.17" "spirv::relation::step::control::switch_default" "M(x) no n_i gives M, (OpSwitch x d n_1 t_1 …), c, p → M, M(d), d, c";
    SpirvSwitchUndefined "spirv/switch-undefined" Invocation "SPIR-V 1.6 revision 7, Poison" "spirv::relation::step::control::switch_undefined" "M, (OpSwitch x …), c, p is undefined behaviour where M(x) is undefined";
    SpirvKill "spirv/kill" Invocation "SPIR-V §3.3.17" "spirv::relation::step::control::kill" "M, (OpKill), c, p discards the invocation";
    SpirvTerminateInvocation "spirv/terminate-invocation" Invocation "SPV_KHR_terminate_invocation" "spirv::relation::step::control::terminate_invocation" "M, (OpTerminateInvocation), c, p discards the invocation";
    SpirvDemote "spirv/demote" Invocation "SPV_EXT_demote_to_helper_invocation" "spirv::relation::step::control::demote" "M, (OpDemoteToHelperInvocation, I), c, p → M, I, c, p as a helper invocation";
    SpirvIsHelper "spirv/is-helper" Invocation "SPV_EXT_demote_to_helper_invocation" "spirv::relation::step::control::is_helper" "M, (r = OpIsHelperInvocationEXT τ, I), c, p → M[r ↦ whether it is one], I, c, p";
    SpirvAtomicLoad "spirv/atomic-load" Invocation "SPIR-V §3.3.18" "spirv::relation::step::atomic::atomic_load" "M, (r = OpAtomicLoad τ a s m, I), c, p → M[r ↦ M(M(a))], I, c, p";
    SpirvAtomicStore "spirv/atomic-store" Invocation "SPIR-V §3.3.18" "spirv::relation::step::atomic::atomic_store" "M, (OpAtomicStore a s m v, I), c, p → M[M(a) ↦ M(v)], I, c, p";
    SpirvAtomicExchange "spirv/atomic-exchange" Invocation "SPIR-V §3.3.18" "spirv::relation::step::atomic::atomic_exchange" "M, (r = OpAtomicExchange τ a s m v, I), c, p → M[r ↦ M(M(a)), M(a) ↦ M(v)], I, c, p";
    SpirvAtomicModify "spirv/atomic-modify" Invocation "SPIR-V §3.3.18" "spirv::relation::step::atomic::atomic_modify" "M, (r = OpAtomicOp τ a s m (v), I), c, p → M[r ↦ M(M(a)), M(a) ↦ op(M(M(a)), M(v))], I, c, p, with v = 1 for increment and decrement";
    SpirvAtomicCompareExchangeEqual "spirv/atomic-compare-exchange-equal" Invocation "SPIR-V §3.3.18" "spirv::relation::step::atomic::atomic_compare_exchange_equal" "M(M(a)) = M(w) gives M, (r = OpAtomicCompareExchange τ a s m n v w, I), c, p → M[r ↦ M(M(a)), M(a) ↦ M(v)], I, c, p, with the semantics m";
    SpirvAtomicCompareExchangeUnequal "spirv/atomic-compare-exchange-unequal" Invocation "SPIR-V §3.3.18" "spirv::relation::step::atomic::atomic_compare_exchange_unequal" "M(M(a)) ≠ M(w) gives M, (r = OpAtomicCompareExchange τ a s m n v w, I), c, p → M[r ↦ M(M(a))], I, c, p, with the semantics n";
    SpirvAtomicCompareExchangeUndefined "spirv/atomic-compare-exchange-undefined" Invocation "SPIR-V §3.3.18, §3.3.1" "spirv::relation::step::atomic::atomic_compare_exchange_undefined" "M(M(a)) or M(w) undefined gives M, (r = OpAtomicCompareExchange τ a s m n v w, I), c, p → M[r ↦ M(M(a)), M(a) ↦ any value], I, c, p";
    SpirvMemoryBarrier "spirv/memory-barrier" Invocation "SPIR-V §3.3.20" "spirv::relation::step::barrier::memory_barrier" "M, (OpMemoryBarrier s m, I), c, p → M, I, c, p, ordering what is before and after";
    SpirvControlBarrier "spirv/control-barrier" Invocation "SPIR-V §3.3.20" "spirv::relation::step::barrier::control_barrier" "M, (OpControlBarrier e s m, I), c, p → M, I, c, p once all invocations of the scope e have arrived";
    SpirvDerivative "spirv/derivative" Invocation "SPIR-V §3.3.16" "spirv::relation::step::derivative::derivative" "M, (r = OpDPdx τ a, I), c, p → M[r ↦ the derivative of M(a) in the quad], I, c, p once its invocations have arrived, and the others of the section";
    SpirvGroupElect "spirv/group-elect" Invocation "SPIR-V §3.3.24" "spirv::relation::step::group::group_elect" "M, (r = OpGroupNonUniformElect τ s, I), c, p → M[r ↦ whether it is the first of the tangle], I, c, p once the tangle has arrived";
    SpirvGroupVote "spirv/group-vote" Invocation "SPIR-V §3.3.24" "spirv::relation::step::group::group_vote" "M, (r = OpGroupNonUniformAll τ s a, I), c, p → M[r ↦ whether M(a) holds in all of the tangle], I, c, p once the tangle has arrived; OpGroupNonUniformAny, whether in some; OpGroupNonUniformAllEqual, whether all M(a) are equal";
    SpirvGroupBallot "spirv/group-ballot" Invocation "SPIR-V §3.3.24" "spirv::relation::step::group::group_ballot" "M, (r = OpGroupNonUniformBallot τ s a, I), c, p → M[r ↦ a bit for each invocation of the tangle in which M(a) holds], I, c, p once the tangle has arrived";
    SpirvGroupBallotBits "spirv/group-ballot-bits" Invocation "SPIR-V §3.3.24" "spirv::relation::step::group::group_ballot_bits" "M, (r = OpGroupNonUniformBallotBitCount τ s o a, I), c, p → M[r ↦ how many of the bits of M(a) that o takes are set], I, c, p once the tangle has arrived, and the other instructions that read a ballot";
    SpirvGroupBroadcast "spirv/group-broadcast" Invocation "SPIR-V §3.3.24" "spirv::relation::step::group::group_broadcast" "M, (r = OpGroupNonUniformBroadcast τ s a i, I), c, p → M[r ↦ M(a) of invocation M(i) of the tangle], I, c, p once the tangle has arrived; OpGroupNonUniformBroadcastFirst, of the first";
    SpirvGroupShuffle "spirv/group-shuffle" Invocation "SPIR-V §3.3.24" "spirv::relation::step::group::group_shuffle" "M, (r = OpGroupNonUniformShuffle τ s a i, I), c, p → M[r ↦ M(a) of invocation M(i) of the tangle], I, c, p once the tangle has arrived; OpGroupNonUniformShuffleXor, Up and Down, of invocation l xor M(i), l - M(i) and l + M(i), where it is invocation l itself";
    SpirvGroupArithmetic "spirv/group-arithmetic" Invocation "SPIR-V §3.3.24" "spirv::relation::step::group::group_arithmetic" "M, (r = OpGroupNonUniformOp τ s o a (n), I), c, p → M[r ↦ the M(a) of the tangle that o takes, combined by Op], I, c, p once the tangle has arrived";
    SpirvGroupQuad "spirv/group-quad" Invocation "SPIR-V §3.3.24" "spirv::relation::step::group::group_quad" "M, (r = OpGroupNonUniformQuadBroadcast τ s a i, I), c, p → M[r ↦ M(a) of invocation M(i) of its quad], I, c, p once the tangle has arrived; OpGroupNonUniformQuadSwap, of the one beside, below or across";

    // Collective rules of several invocations.
    SpirvBarrierRelease "spirv/barrier-release" Grid "SPIR-V §3.3.20" "spirv::relation::grid::barrier::barrier_release" "all invocations of a scope wait at one OpControlBarrier: they go on, ordered by its semantics";
    SpirvDivergentBarrier "spirv/divergent-barrier" Grid "SPIR-V §3.3.20" "spirv::relation::grid::barrier::divergent_barrier" "none of a scope's invocations can step and they wait at different barriers, or some have ended: undefined behaviour";
    SpirvQuadDerivatives "spirv/quad-derivatives" Grid "SPIR-V §3.3.16; Vulkan, Derivative Operations" "spirv::relation::grid::quad::quad_derivatives" "all invocations of a quad wait at one dynamic instance of a derivative: they go on with the differences of their values";
    SpirvDivergentDerivatives "spirv/divergent-derivatives" Grid "SPIR-V §3.3.16" "spirv::relation::grid::quad::divergent_derivatives" "some invocations of a quad wait at a dynamic instance of a derivative that the others cannot come to: they go on with undefined values";
    SpirvTangle "spirv/tangle" Grid "SPIR-V §3.3.24; Vulkan, Group operations" "spirv::relation::grid::subgroup::tangle" "the invocations of a subgroup that wait at one dynamic instance of a group instruction, to which no other of its invocations can come: they go on, each by the values of all of them";
    SpirvDataRace "spirv/data-race" Grid "Vulkan, Memory Model" "spirv::relation::grid::race::data_race" "two conflicting accesses, not both atomic, that nothing orders: undefined behaviour";
    SpirvUndeclaredAlias "spirv/undeclared-alias" Grid "SPIR-V §2.18.2" "spirv::relation::grid::race::undeclared_alias" "bytes are written through one variable and accessed through another, not both Aliased: undefined behaviour";
    SpirvDescriptorNotUniform "spirv/descriptor-not-uniform" Grid "SPIR-V §3.2.20; Vulkan, Validation Rules within a Module" "spirv::relation::grid::descriptor::descriptor_not_uniform" "two invocations of an invocation group execute a dynamic instance of an access with different descriptors, and its operand is not decorated NonUniform: undefined behaviour";

    // Translation, report §6.
    LvTrFunc "lv/tr-func" Translation "000 §6.2" "compile::lambda_v::rules::tr_func" "translate (func (idi) e) under (A, (ei)) as e[ei/idi] under A";
    LvTrNum "lv/tr-num" Translation "000 §6.3" "compile::lambda_v::rules::tr_num" "num is a constant, no code";
    LvTrBool "lv/tr-bool" Translation "000 §6.1" "compile::lambda_v::rules::tr_bool" "true and false are the constants of the header, no code";
    LvTrLet "lv/tr-let" Translation "000 §6.4" "compile::lambda_v::rules::tr_let" "translate (let ((idi ei)) e) as e[ei/idi]";
    LvTrList "lv/tr-list" Translation "000 §6.5" "compile::lambda_v::rules::tr_list" "translate (e0 e1 … en) under A as e0 under (A, (e1 … en))";
    LvTrIf "lv/tr-if" Translation "000 §6.6; LV-11 to LV-14, LV-23" "compile::lambda_v::rules::tr_if" "a selection: condition, branches, a phi of the values in the merge block";
    LvTrBuiltin "lv/tr-builtin" Translation "000 §6.7; LV-15" "compile::lambda_v::rules::tr_builtin" "the arguments' code, then the builtin's instruction";
    LvTrRecFunc "lv/tr-rec-func" Translation "000 §6.8; LV-16, LV-17, LV-24" "compile::lambda_v::rules::tr_rec_func" "a loop: header phis of the parameters, body, continue block with a phi per parameter";
    LvTrRec "lv/tr-rec" Translation "000 §6.9; LV-18, LV-25" "compile::lambda_v::rules::tr_rec" "the arguments' code, then a branch to the continue block";
    LvTrParam "lv/tr-param" Translation "000 §6.10" "compile::lambda_v::rules::tr_param" "a rec-func parameter is the result id of its header phi";

    LvMcHeader "lv/mc-header" ModuleCreation "000 §6.11" "compile::lambda_v::module::mc_header" "capabilities, extensions, the extended instruction set, the memory model";
    LvMcEntry "lv/mc-entry" ModuleCreation "000 §6.11; LV-19" "compile::lambda_v::module::mc_entry" "the fragment entry point, its interface and where its coordinates begin";
    LvMcControls "lv/mc-controls" ModuleCreation "000 §3.2; LV-20" "compile::lambda_v::module::mc_controls" "the float controls and NoContraction of the profile";
    LvMcDecorations "lv/mc-decorations" ModuleCreation "000 §6.11" "compile::lambda_v::module::mc_decorations" "Location of each output, BuiltIn FragCoord, the constant buffer's layout, NoContraction on float arithmetic, GLSL.std.450's too";
    LvMcTypes "lv/mc-types" ModuleCreation "000 §6.1" "compile::lambda_v::module::mc_types" "typeid: each type used, declared once under its static id";
    LvMcConstants "lv/mc-constants" ModuleCreation "000 §6.3, §6.11" "compile::lambda_v::module::mc_constants" "O.consts in the module, or opaque: loaded from a buffer";
    LvMcVariables "lv/mc-variables" ModuleCreation "000 §6.11" "compile::lambda_v::module::mc_variables" "the output variables, the fragment coordinate, the constant buffer";
    LvMcBody "lv/mc-body" ModuleCreation "000 §6.11" "compile::lambda_v::module::mc_body" "OpLabel startblock, O.code, OpStore of O.ido, OpReturn";
}
