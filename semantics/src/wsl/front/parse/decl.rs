//! Top-level declarations: seed 004 "Top-level declarations".

use super::{Failed, Parser, Result, literal};
use crate::rule::Rule;
use crate::text::Span;
use crate::wsl::syntax::{
    Decl, EnumDef, EnumElement, FuncDef, FunctionKind, Ident, IntLiteral, Qualifier, Semantic, SemanticKind, Slot, StructDef, TypeExprId,
    Typedef,
};
use crate::wsl::token::TokenKind as T;

/// The parts of a function's declaration before its parameters.
struct Head {
    kind: FunctionKind,
    result: TypeExprId,
    name: Ident,
}

impl Parser<'_> {
    /// Reads every declaration.
    pub(super) fn program(&mut self) {
        while self.peek() != T::End {
            let from = self.at;
            match top_level_decl(self) {
                Ok(decl) => self.tree.decls.extend(decl),
                Err(Failed) => self.recover_declaration(from),
            }
        }
    }

    /// Takes an integer literal without sign, or reports that `owner` needs `what` here.
    pub(super) fn int_literal(&mut self, rule: Rule, owner: &str, what: &str) -> Result<IntLiteral> {
        match self.peek() {
            T::IntLiteral | T::UintLiteral => {
                let span = self.bump();
                Ok(literal::integer(&self.text[span.start as usize..span.end as usize], false))
            }
            _ => Err(self.error(rule, &format!("{owner} needs {what} here"))),
        }
    }
}

/// `None` for a `}` that was reported as missing, and for a function of which only the body could
/// be read.
///
/// ```text
/// topLevelDecl ::= ";" | typedef | structDef | enumDef | funcDef        [wsl/g-top-level-decl]
/// ```
fn top_level_decl(p: &mut Parser<'_>) -> Result<Option<Decl>> {
    p.fire(Rule::WslGTopLevelDecl);
    match p.peek() {
        T::Semicolon => {
            p.bump();
            Ok(Some(Decl::Empty))
        }
        T::Typedef => typedef(p).map(|d| Some(Decl::Typedef(d))),
        T::Struct => struct_def(p).map(|d| Some(Decl::Struct(d))),
        T::Enum => enum_def(p).map(|d| Some(Decl::Enum(d))),
        T::Vertex | T::Fragment | T::LeftBracket | T::Compute | T::Operator | T::Identifier | T::AddressSpace(_) => {
            func_def(p).map(|d| d.map(|f| Decl::Function(Box::new(f))))
        }
        T::OperatorName => Err(p.error(Rule::WslGNormalFuncDecl, "a function's result type stands before its name")),
        T::RightBrace if p.missing_braces > 0 => {
            p.missing_braces -= 1;
            p.bump();
            Ok(None)
        }
        T::RightBrace => Err(p.error(Rule::WslGTopLevelDecl, "no `{` is open here")),
        _ => Err(p.error(Rule::WslGTopLevelDecl, "at the top level stand typedefs, structs, enums, functions and `;`")),
    }
}

/// ```text
/// typedef ::= "typedef" Identifier "=" type ";"        [wsl/g-typedef]
/// ```
fn typedef(p: &mut Parser<'_>) -> Result<Typedef> {
    p.fire(Rule::WslGTypedef);
    p.bump();
    let name = p.identifier(Rule::WslGTypedef, "a typedef", "its name")?;
    p.expect(Rule::WslGTypedef, T::Equal, "a typedef")?;
    let ty = super::ty::ty(p)?;
    p.expect(Rule::WslGTypedef, T::Semicolon, "a typedef")?;
    Ok(Typedef { name, ty })
}

/// ```text
/// structDef ::= "struct" Identifier "{" structElement* "}"        [wsl/g-struct-def]
/// ```
fn struct_def(p: &mut Parser<'_>) -> Result<StructDef> {
    p.fire(Rule::WslGStructDef);
    p.bump();
    let name = p.identifier(Rule::WslGStructDef, "a struct", "its name")?;
    p.expect(Rule::WslGStructDef, T::LeftBrace, "a struct")?;
    let mut fields = Vec::new();
    while !matches!(p.peek(), T::RightBrace | T::End) && !p.at_top_level() {
        match struct_element(p) {
            Ok(field) => fields.push(field),
            Err(Failed) => p.recover_field(),
        }
    }
    if !p.eat(T::RightBrace) {
        p.missing_braces += 1;
        return Err(p.error(Rule::WslGStructDef, "a struct needs `}` here"));
    }
    Ok(StructDef { name, fields })
}

/// ```text
/// structElement ::= qualifier* type Identifier (":" semantic)? ";"
///                                     [wsl/g-struct-element; WSL-B6: the letter has no qualifiers]
/// ```
fn struct_element(p: &mut Parser<'_>) -> Result<Slot> {
    p.fire(Rule::WslGStructElement);
    let field = slot(p, Rule::WslGStructElement, "a field")?;
    p.expect(Rule::WslGStructElement, T::Semicolon, "a field")?;
    Ok(field)
}

/// The common part of fields and parameters.
fn slot(p: &mut Parser<'_>, rule: Rule, owner: &str) -> Result<Slot> {
    let qualifiers = qualifiers(p);
    if !matches!(p.peek(), T::Identifier | T::AddressSpace(_)) {
        return Err(p.error(rule, &format!("{owner} needs its type here")));
    }
    let ty = super::ty::ty(p)?;
    let name = p.identifier(rule, owner, "its name")?;
    let semantic = if p.eat(T::Colon) { Some(semantic(p)?) } else { None };
    Ok(Slot { qualifiers, ty, name, semantic })
}

/// ```text
/// qualifier ::= "nointerpolation" | "noperspective" | "centroid" | "sample"
///                                          [wsl/g-qualifier; WSL-B6: the letter has no production]
/// ```
fn qualifiers(p: &mut Parser<'_>) -> Vec<(Qualifier, Span)> {
    let mut qualifiers = Vec::new();
    while let T::Qualifier(qualifier) = p.peek() {
        p.fire(Rule::WslGQualifier);
        qualifiers.push((qualifier, p.bump()));
    }
    qualifiers
}

/// ```text
/// enumDef ::= "enum" Identifier (":" type)? "{" enumElement ("," enumElement)* "}"
///                                                                                 [wsl/g-enum-def]
/// ```
fn enum_def(p: &mut Parser<'_>) -> Result<EnumDef> {
    p.fire(Rule::WslGEnumDef);
    p.bump();
    let name = p.identifier(Rule::WslGEnumDef, "an enum", "its name")?;
    let base = if p.eat(T::Colon) { Some(super::ty::ty(p)?) } else { None };
    p.expect(Rule::WslGEnumDef, T::LeftBrace, "an enum")?;
    let mut elements = Vec::new();
    loop {
        match enum_element(p) {
            Ok(element) => elements.push(element),
            Err(Failed) => break p.recover_elements(),
        }
        if p.eat(T::RightBrace) {
            break;
        }
        if !p.eat(T::Comma) {
            p.error(Rule::WslGEnumDef, "an enum needs `,` or `}` behind an element");
            break p.recover_elements();
        }
    }
    Ok(EnumDef { name, base, elements })
}

/// ```text
/// enumElement ::= Identifier ("=" constexpr)?        [wsl/g-enum-element]
/// ```
fn enum_element(p: &mut Parser<'_>) -> Result<EnumElement> {
    p.fire(Rule::WslGEnumElement);
    let name = p.identifier(Rule::WslGEnumElement, "an enum", "an element's name")?;
    let value = if p.eat(T::Equal) { Some(super::expr::constexpr(p)?) } else { None };
    Ok(EnumElement { name, value })
}

/// ```text
/// funcDef ::= funcDecl "{" (stmt | variableDecls ";")* "}"
///                                        [wsl/g-func-def; WSL-B2: the letter has no variableDecls]
/// ```
fn func_def(p: &mut Parser<'_>) -> Result<Option<FuncDef>> {
    p.fire(Rule::WslGFuncDef);
    let (start, from) = (p.start(), p.at);
    let declared = func_decl(p).and_then(|declared| match p.peek() {
        T::LeftBrace => Ok(declared),
        _ => Err(p.error(Rule::WslGFuncDef, "a function needs its body in `{` and `}` here")),
    });
    let Ok((Head { kind, result, name }, parameters, semantic)) = declared else {
        // A function whose head could not be read may have more errors in its body.
        p.recover_head(from)?;
        super::stmt::block(p)?;
        return Ok(None);
    };
    let body = super::stmt::block(p)?;
    Ok(Some(FuncDef { kind, result, name, parameters, semantic, body, span: p.since(start) }))
}

/// ```text
/// funcDecl ::= (entryPointDecl | normalFuncDecl | castOperatorDecl) (":" semantic)?
///                                                                                [wsl/g-func-decl]
/// ```
fn func_decl(p: &mut Parser<'_>) -> Result<(Head, Vec<Slot>, Option<Semantic>)> {
    p.fire(Rule::WslGFuncDecl);
    let (head, parameters) = match p.peek() {
        T::Vertex | T::Fragment | T::LeftBracket | T::Compute => entry_point_decl(p)?,
        T::Operator => cast_operator_decl(p)?,
        _ => normal_func_decl(p)?,
    };
    let semantic = if p.eat(T::Colon) { Some(semantic(p)?) } else { None };
    Ok((head, parameters, semantic))
}

/// ```text
/// entryPointDecl ::= ("vertex" | "fragment" | "[" numthreadsSemantic "]" "compute") type
///     Identifier parameters
///                                                                         [wsl/g-entry-point-decl]
/// ```
fn entry_point_decl(p: &mut Parser<'_>) -> Result<(Head, Vec<Slot>)> {
    p.fire(Rule::WslGEntryPointDecl);
    let kind = match p.peek() {
        T::Vertex => FunctionKind::Vertex,
        T::Fragment => FunctionKind::Fragment,
        T::LeftBracket => {
            p.bump();
            let (size, span) = numthreads_semantic(p)?;
            p.expect(Rule::WslGEntryPointDecl, T::RightBracket, "the size of a threadgroup")?;
            if p.peek() != T::Compute {
                return Err(p.error(Rule::WslGEntryPointDecl, "behind the size of its threadgroups an entry point needs `compute`"));
            }
            FunctionKind::Compute(size, span)
        }
        _ => return Err(p.error(Rule::WslGEntryPointDecl, "before `compute` an entry point needs `[numthreads(x, y, z)]`")),
    };
    p.bump();
    let result = super::ty::ty(p)?;
    let name = p.identifier(Rule::WslGEntryPointDecl, "an entry point", "its name")?;
    Ok((Head { kind, result, name }, parameters(p)?))
}

/// ```text
/// numthreadsSemantic ::= "numthreads" "(" IntLiteral "," IntLiteral "," IntLiteral ")"
///                                                             [wsl/g-numthreads-semantic; WSL-B13]
/// ```
fn numthreads_semantic(p: &mut Parser<'_>) -> Result<([IntLiteral; 3], Span)> {
    let rule = Rule::WslGNumthreadsSemantic;
    p.fire(rule);
    let start = p.start();
    p.expect(rule, T::Numthreads, "an attribute of a function")?;
    p.expect(rule, T::LeftParen, "`numthreads`")?;
    let x = p.int_literal(rule, "`numthreads`", "an integer without sign")?;
    p.expect(rule, T::Comma, "`numthreads`")?;
    let y = p.int_literal(rule, "`numthreads`", "an integer without sign")?;
    p.expect(rule, T::Comma, "`numthreads`")?;
    let z = p.int_literal(rule, "`numthreads`", "an integer without sign")?;
    p.expect(rule, T::RightParen, "`numthreads`")?;
    Ok(([x, y, z], p.since(start)))
}

/// ```text
/// normalFuncDecl ::= type (Identifier | OperatorName) parameters        [wsl/g-normal-func-decl]
/// ```
fn normal_func_decl(p: &mut Parser<'_>) -> Result<(Head, Vec<Slot>)> {
    let rule = Rule::WslGNormalFuncDecl;
    p.fire(rule);
    let result = super::ty::ty(p)?;
    let identifier = p.peek() == T::Identifier;
    let name = match p.peek() {
        T::Identifier | T::OperatorName => p.ident(),
        T::Operator => {
            return Err(p.error(rule, "a function's operator name has its sign directly behind `operator`, and a cast no type before it"));
        }
        _ => return Err(p.error(rule, "a function needs its name here")),
    };
    if identifier && matches!(p.peek(), T::Semicolon | T::Equal | T::Comma) {
        return Err(p.error(rule, "a function needs `(` behind its name; there are no variables at the top level"));
    }
    Ok((Head { kind: FunctionKind::Normal, result, name }, parameters(p)?))
}

/// ```text
/// castOperatorDecl ::= "operator" type parameters        [wsl/g-cast-operator-decl]
/// ```
fn cast_operator_decl(p: &mut Parser<'_>) -> Result<(Head, Vec<Slot>)> {
    p.fire(Rule::WslGCastOperatorDecl);
    let name = p.ident();
    let result = super::ty::ty(p)?;
    Ok((Head { kind: FunctionKind::Cast, result, name }, parameters(p)?))
}

/// ```text
/// parameters ::= "(" ")" | "(" parameter ("," parameter)* ")"        [wsl/g-parameters]
/// ```
fn parameters(p: &mut Parser<'_>) -> Result<Vec<Slot>> {
    p.fire(Rule::WslGParameters);
    p.expect(Rule::WslGParameters, T::LeftParen, "a function")?;
    let mut parameters = Vec::new();
    if p.eat(T::RightParen) {
        return Ok(parameters);
    }
    loop {
        parameters.push(parameter(p)?);
        if p.eat(T::RightParen) {
            return Ok(parameters);
        }
        if !p.eat(T::Comma) {
            return Err(p.error(Rule::WslGParameters, "a function needs `,` or `)` behind a parameter"));
        }
    }
}

/// ```text
/// parameter ::= qualifier* type Identifier (":" semantic)?
///                          [wsl/g-parameter; WSL-B6, WSL-B7: the letter has no qualifiers; WSL-B7]
/// ```
fn parameter(p: &mut Parser<'_>) -> Result<Slot> {
    p.fire(Rule::WslGParameter);
    slot(p, Rule::WslGParameter, "a parameter")
}

/// ```text
/// semantic ::= builtInSemantic | stageInOutSemantic | resourceSemantic |
///     specializationConstantSemantic
///                                                                         [wsl/g-semantic; WSL-A4]
/// ```
fn semantic(p: &mut Parser<'_>) -> Result<Semantic> {
    p.fire(Rule::WslGSemantic);
    let start = p.start();
    let kind = match p.peek() {
        T::Builtin(_) | T::SvTarget => built_in_semantic(p)?,
        T::Attribute => stage_in_out_semantic(p)?,
        T::Register => resource_semantic(p)?,
        T::Specialized => specialization_constant_semantic(p),
        _ => {
            let span = p.span();
            let is_joined = p.text[span.start as usize..span.end as usize].starts_with("SV_Target");
            let hint = if is_joined { "; `SV_Target` and its number are two tokens" } else { "" };
            let needs = format!("behind `:` stands a built-in variable, `attribute`, `register` or `specialized`{hint}");
            return Err(p.error(Rule::WslGSemantic, &needs));
        }
    };
    Ok(Semantic { kind, span: p.since(start) })
}

/// ```text
/// builtInSemantic ::= "SV_InstanceID" | "SV_VertexID" | "PSIZE" | "SV_Position" | "SV_IsFrontFace"
///     | "SV_SampleIndex" | "SV_InnerCoverage"
///                   | "SV_Target" IntLiteral | "SV_Depth" | "SV_Coverage" | "SV_DispatchThreadID"
///                       | "SV_GroupID" | "SV_GroupIndex" | "SV_GroupThreadID"
///                                                        [wsl/g-built-in-semantic; WSL-A3, WSL-A5]
/// ```
fn built_in_semantic(p: &mut Parser<'_>) -> Result<SemanticKind> {
    p.fire(Rule::WslGBuiltInSemantic);
    if let T::Builtin(builtin) = p.peek() {
        p.bump();
        return Ok(SemanticKind::Builtin(builtin));
    }
    p.expect(Rule::WslGBuiltInSemantic, T::SvTarget, "a semantic")?;
    p.int_literal(Rule::WslGBuiltInSemantic, "`SV_Target`", "the number of an attachment").map(SemanticKind::Target)
}

/// ```text
/// stageInOutSemantic ::= "attribute" "(" IntLiteral ")"        [wsl/g-stage-in-out-semantic]
/// ```
fn stage_in_out_semantic(p: &mut Parser<'_>) -> Result<SemanticKind> {
    let rule = Rule::WslGStageInOutSemantic;
    p.fire(rule);
    p.bump();
    p.expect(rule, T::LeftParen, "`attribute`")?;
    let number = p.int_literal(rule, "`attribute`", "an integer without sign")?;
    p.expect(rule, T::RightParen, "`attribute`")?;
    Ok(SemanticKind::Attribute(number))
}

/// ```text
/// resourceSemantic ::= "register" "(" Identifier ("," Identifier)? ")"
///                                                                        [wsl/g-resource-semantic]
/// ```
fn resource_semantic(p: &mut Parser<'_>) -> Result<SemanticKind> {
    let rule = Rule::WslGResourceSemantic;
    p.fire(rule);
    p.bump();
    p.expect(rule, T::LeftParen, "`register`")?;
    let register = p.identifier(rule, "`register`", "the name of a register")?;
    let space = if p.eat(T::Comma) { Some(p.identifier(rule, "`register`", "the name of a space")?) } else { None };
    p.expect(rule, T::RightParen, "`register`")?;
    Ok(SemanticKind::Register(register, space))
}

/// ```text
/// specializationConstantSemantic ::= "specialized"
///                                                 [wsl/g-specialization-constant-semantic; WSL-A4]
/// ```
fn specialization_constant_semantic(p: &mut Parser<'_>) -> SemanticKind {
    p.fire(Rule::WslGSpecializationConstantSemantic);
    p.bump();
    SemanticKind::Specialized
}
