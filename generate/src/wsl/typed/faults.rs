//! The faults of near misses. Faults in bodies are made where bodies are written. Faults of
//! declarations are made in `broken`.

macro_rules! faults {
    ($($name:ident $what:literal;)*) => {
        /// One way to break a rule.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub enum Fault { $(#[doc = $what] $name,)* }

        impl Fault {
            /// Every fault.
            pub const ALL: &'static [Fault] = &[$(Fault::$name,)*];
        }
    };
}

faults! {
    IfCondition "The condition of an `if` is no `bool`.";
    DoCondition "The condition of a `do` is no `bool`.";
    ForCondition "The condition of a `for` is no `bool`.";
    SwitchType "A `float` is switched on.";
    CaseType "The value of a case is of another type.";
    CaseDuplicate "Two cases have the same value.";
    NoDefault "Some value has no case.";
    TwoDefaults "A switch has two defaults.";
    CoveredDefault "No value is left to a default.";
    CaseEnds "The end of a case is reached.";
    LastFallthrough "The last case falls through.";
    FallthroughThenMore "Statements follow one that may fall through.";
    LoopFallthrough "A `do` in a case falls through.";
    ForFallthrough "A `for` in a case falls through.";
    Unreachable "A statement is never reached.";
    Break "A `break` leaves a function.";
    Continue "A `continue` leaves a function.";
    Fallthrough "A `fallthrough` leaves a function.";
    ReturnType "A value of another type is returned.";
    ReturnVoid "Nothing is returned from a function of a value.";
    NoReturn "The end of a function of a value is reached.";
    InnerReturn "A pointer or an array reference is returned from a branch.";
    VariableDuplicate "A block declares a variable twice.";
    VariableSpace "A variable is in device or constant.";
    NoInitialiser "A pointer or an array reference has no initialising expression.";
    InitialiserType "An initialising expression is of another type.";
    VoidVariable "A variable is void.";
    UnknownType "The type of a variable is not defined.";
    OpaqueVariable "A variable holds a sampler or a texture.";
    ArraySize "An array's size is 0 or does not fit in 32 bits.";
    UnknownVariable "A variable is not defined.";
    UnknownFunction "A function is not defined.";
    ArgumentCount "A call has too many arguments.";
    ArgumentType "An argument of a call is of another type.";
    AmbiguousLiteral "A literal fits two functions, none with an int.";
    UnknownField "There is no such field.";
    UnknownElements "A value has no elements.";
    UnknownElement "An enum has no such element.";
    IndexType "An index is no uint.";
    Dereference "What is dereferenced is no pointer.";
    AddressOfValue "The address of a value is taken.";
    ReferenceOfValue "An array reference to a value is made.";
    UnsignedLiteral "An unsigned literal does not fit in 32 bits.";
    OrOperand "An operand of `||` is no `bool`.";
    AndOperand "An operand of `&&` is no `bool`.";
    TernaryCondition "The condition of `?:` is no `bool`.";
    TernaryTypes "The operands of `?:` are of different types.";
    TernaryReference "The operands of `?:` are pointers.";
    TernaryLiterals "A literal of `?:` is no `int`.";
    TernaryLiteralsCondition "The condition of `?:` with two literals is no `bool`.";
    AssignType "A value of another type is assigned.";
    AssignValue "A value is assigned to.";
    AssignConstant "Something in constant is assigned to.";
    AssignReference "A pointer is assigned.";
    PostfixType "What has no `operator++` is stepped after.";
    PostfixTarget "A value is stepped after.";
    PrefixType "What has no `operator++` is stepped before.";
    PrefixTarget "A value is stepped before.";
    CompoundType "No operator takes the right side.";
    CompoundTarget "A value is on the left of `+=`.";
    EntryPointCall "An entry point is called.";
    Recursion "Two functions call each other.";
    ThreadgroupVertex "A vertex entry point reaches threadgroup memory.";
    TypedefDuplicate "A typedef has the name of another type.";
    StructDuplicate "A structure has the name of another type.";
    EnumDuplicate "An enum has the name of another type.";
    FieldDuplicate "Two fields have the same name.";
    EnumBase "The base type of an enum is no integer.";
    EnumValue "The value of an enum's element is no integer.";
    EnumZero "No element of an enum is 0.";
    EnumDistinct "Two elements of an enum have the same value.";
    EnumRange "An element of an enum does not fit in its base type.";
    EnumElements "Two elements of an enum have the same name.";
    Getter "A getter has the wrong parameters.";
    Setter "A setter has the wrong parameters or result.";
    AddressTaker "An address-taker has the wrong parameters or result.";
    IndexGetter "An indexed getter has the wrong parameters.";
    IndexSetter "An indexed setter has the wrong parameters or result.";
    IndexAddressTaker "An indexed address-taker has the wrong parameters or result.";
    StepOperator "An operator `++` has the wrong parameters or result.";
    SumOperator "An operator `+` has the wrong number of parameters.";
    BinaryOperator "A binary operator has the wrong number of parameters.";
    ComplementOperator "An operator `~` has the wrong number of parameters.";
    VoidPlace "A field, parameter or typedef is void.";
    VoidComposite "A pointer, array reference or array is made of void.";
    TypeArguments "A type has the wrong arguments.";
    Cycle "Types depend on each other.";
    FieldReference "A field is a pointer or an array reference.";
    ElementReference "An array's elements are pointers or array references.";
    ElementOpaque "An array contains samplers or textures.";
    SetterAlone "A setter has no getter.";
    IndexSetterAlone "An indexed setter has no getter.";
    FunctionDuplicate "Two functions have the same name and types.";
    GeneratedDuplicate "A function is one that is generated.";
    LibraryDuplicate "A function is one of the library's.";
    ParameterDuplicate "Two parameters have the same name.";
    EntryDiscard "A vertex or compute entry point may discard.";
    TwoReturns "A function that returns a texture has two returns.";
    NoSemantic "An argument of an entry point has no semantic.";
    SameName "Members of the same name differ.";
    TwoResults "Two results have the same semantic.";
    WholeSemantic "What is no variable has a semantic: a structure, or nothing that is returned.";
    BuiltinType "A built-in variable has another type.";
    BuiltinStage "A built-in variable is none of the stage.";
    ResourceType "A resource is none of the types that one can be.";
    ResourceSpace "A resource is in thread.";
    SliceElement "A resource holds what it may not.";
    AttributeType "An attribute is no scalar, vector or matrix.";
    SpecializedType "A specialization constant is no scalar.";
    StageBucket "An argument or result is of a bucket that the stage does not have.";
    Interpolation "An attribute is both nointerpolation and noperspective.";
    Sampling "An attribute is both centroid and sample.";
    Numthreads "A number of threads is 0 or does not fit in 32 bits.";
    StageFunction "An entry point calls a function of another stage.";
    FunctionReturnInLoop "An array reference is returned from a loop.";
    CaseReturn "A pointer is returned from a case.";
}
