#version 450
layout(local_size_x=32) in;
layout(set=0,binding=0,std430) buffer A { int v[]; };
int f(int x){
  int r = 0;
  for (int i=0;i<8;i++){
    switch((x+i)&7){
      case 0: continue;
      case 1: r+=1;
      case 2: r+=2; if (r>40) return r; break;
      case -3: r-=9; break;
      case 4: { for(int j=0;j<3;j++){ if(j==x) break; switch(j){ case 1: r^=5; break; default: if (r==13) { return -r; } } } } break;
      case 5: if (x>3) break; r*=2;
      default: r+=3;
    }
    if (r > 100) break;
  }
  return r;
}
void main(){ uint i=gl_GlobalInvocationID.x; if(i<v.length()) v[i]=f(v[i]); }
