#version 450
layout(local_size_x=4) in;
layout(std430, binding=0) buffer B {
    int o[];
};
layout(std430, binding=1) readonly buffer C {
    int n;
    int m;
};
int h(int a, int b) {
    int r=0;
    do {
        r++;
        if (r>b) {
            if (a<3) continue;
            return r;
        }
        for (int i=0;i<n;i++) {
            if (i==b) break;
            if (i>a) {
                do {
                    r+=i;
                    if (r>30) return -r;
                } while (r<m);
                continue;
            }
            r^=i;
        }
    } while (r<a+b);
    return r;
}
void main() {
    int i=int(gl_GlobalInvocationID.x);
    int s=0;
    int k=0;
    for (;;) {
        if (k++>6) break;
        switch (k&3) {
            case 0: {
                int z=0;
                while (z<i) {
                    z++;
                    if (z==n) {
                        s+=100;
                        break;
                    }
                    if (z==m) continue;
                    s++;
                }
            }
            case 1: s+=h(k, i);
            if (s>50) {
                k+=2;
                continue;
            } break;
            case 2: if (i==2) break;
            s-=3;
            default: s+=1;
        }
        if (s<-40) {
            o[i]=s;
            return;
        }
    }
    o[i]=s;
}
