#version 450
layout(location=0) out vec4 c;
layout(binding=0) uniform U {
    vec2 inj;
    int n;
};
float f(float a) {
    for (int i=0;i<10;i++) {
        switch (i) {
            case 1: if (inj.x>a) break;
            a+=1.0;
            case 3: do {
                if (a>5.0) return a;
                if (inj.y<a) break;
                a*=2.0;
                continue;
            } while (a<9.0);
            break;
            case 7: for (;;) {
                if (a>inj.x) break;
                a+=3.0;
                if (a>20.) return 3.0;
            } break;
            default: if (n==i) continue;
        }
        if (a<-1.0) break;
    }
    return a;
}
void main() {
    float x=f(gl_FragCoord.x);
    if (inj.x>inj.y) {
        while (true) {
            if (x>3.0) {
                break;
            }
            for (int k=0;k<n;k++) {
                if (k==3) {
                    x+=1.0;
                    continue;
                }
                if (k==5) discard;
                x-=f(x);
            }
            if (x<0.) return;
        }
    }
    c=vec4(x);
}
