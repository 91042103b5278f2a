#version 450
layout(local_size_x=8) in; layout(set=0,binding=0,std430) buffer A { int a[]; };
bool priv[3] = bool[3](true,false,true); shared bool sb[8]; bvec3 gb;
bool side(inout int c){ c++; return (c & 2) != 0; }
struct H { bool f; bvec2 g; float h; };
void main(){ uint i=gl_GlobalInvocationID.x, l=gl_LocalInvocationIndex; int c=int(l); sb[l]=side(c)&&side(c)||!side(c); barrier(); H h=H(sb[(l+1u)&7u], bvec2(c>2,c<3), 1.0); H k=h; k.g=not(k.g); gb=bvec3(h.f, any(k.g), all(h.g)); priv[c%3]=gb[c%3]!=h.f; int r=0; if(priv[0]^^priv[1]) r|=1; r|= h==k ? 2:4; r |= int(gb.y)<<4; bool q = r>3 ? priv[2] : sb[0]; if(i<a.length()) a[i]=r+int(q)*64+c*1000; }
