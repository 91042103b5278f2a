#version 450
layout(local_size_x=4) in;
layout(std430, binding=0) buffer B {
    int o[];
};
int find(int x) {
    for (int i=0;i<8;i++) {
        for (int j=0;j<8;j++) {
            if (o[j]==x+i) return i*8+j;
            if (o[j]<0) {
                if (x>3) return -1;
                else break;
            }
        }
    }
    return 99;
}
void main() {
    uint g=gl_GlobalInvocationID.x;
    int r=find(int(g));
    barrier();
    if (r<0) return;
    o[g+8u]=r;
}
