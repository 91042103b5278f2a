#version 450
layout(constant_id=3) const int N = 5; layout(constant_id=4) const float K = 0.5; layout(constant_id=5) const bool F = true; layout(constant_id=6) const uint W = 4u;
layout(local_size_x_id=6, local_size_y=2) in;
layout(set=0,binding=0,std430) buffer A { float a[]; };
const float tab[8] = float[8](1,2,4,8,16,32,64,128); const mat2 cm[2] = mat2[2](mat2(1,2,3,4), mat2(2.0));
const struct { ivec2 a; float b[3]; } cs = {ivec2(1,2), {3.0,4.0,5.0}};
shared float sh[N*2];
void main(){ uint i=gl_LocalInvocationIndex; if (i<N*2) sh[i]=tab[(i*3u)&7u]*K; barrier(); float s=0.; for(int k=0;k<N;k++) s+=sh[k]+cs.b[k%3]; s+= F ? cm[i&1u][1].x : float(cs.a.y); uint g=gl_GlobalInvocationID.x+gl_GlobalInvocationID.y*gl_WorkGroupSize.x*gl_NumWorkGroups.x; if (g<a.length()) a[g]=s+float(gl_WorkGroupSize.x); }
