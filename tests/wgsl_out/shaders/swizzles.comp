#version 450
layout(local_size_x=2,local_size_y=1,local_size_z=2) in; layout(set=0,binding=0,std430) buffer A { vec2 a[]; };
vec2 sw(vec2 v,int i,int j){ vec2 r=v; r[i]=v[j]; r[1-i]+=r[i]; return r; }
int fact(int n){ int r=1; while(n>1) r*=n--; return r; }
void main(){ uvec3 g=gl_GlobalInvocationID; uint id=g.x+g.y*2u+g.z*4u; vec2 x = id<a.length()?a[id]:vec2(0); int i=int(id&1u); x=sw(x,i,1-i); x.yx=x; x=(x,x*2.0); vec4 z=vec4(x,x.yx).wxzy; z.xz+=z.yw; float arr[2][2]={{1,2},{3,4}}; float c[]=arr[i]; c[i]+=float(fact(i+3)); x+=vec2(c[0],c[1]); x+= float(0xffffffffu>>(id&3u))*1e-9; x*= uintBitsToFloat(0x3f800000u|(id<<3)); x.x+=intBitsToFloat(floatBitsToInt(x.y)^1); if(id<a.length()) a[id]=z.xy+x; }
