#include "random_programs.h"

namespace warpscope::tests::memory_model {

// Mostly the scope that makes a program correct.
std::string RandomPrograms::scope() {
    return one_of({".gpu", ".gpu", ".gpu", ".gpu", ".gpu", ".sys", ".cta"});
}

std::string RandomPrograms::fence() {
    return "fence" + one_of({".acq_rel", ".acq_rel", ".sc"}) + scope();
}

std::string RandomPrograms::data() {
    const std::string word = one_of({"x", "x", "y"});
    const std::string order = below(8) ? "" : ".relaxed" + scope();
    if (below(2)) return "st" + order + " " + word + " " + new_value();
    return new_register() + " = ld" + order + " " + word;
}

std::string RandomPrograms::flag() {
    const std::string word = one_of({"f", "f", "g"});
    const std::string any = one_of({".relaxed", ".acquire", ".release", ".acq_rel"}) + scope();
    switch (below(8)) {
        case 0:
        case 1:
            return "st" + one_of({".relaxed", ".release"}) + scope() + " " + word + " 1";
        case 2:
            return "st" + one_of({"", ".volatile"}) + " " + word + " 1";
        case 3:
            return new_register() + " = atom" + any + ".add " + word + " 1";
        case 4:
            return new_register() + " = atom" + any + ".exch " + word + " 1";
        case 5:
            return new_register() + " = atom" + any + ".cas " + word + " 0 1";
        case 6:
            return "red" + one_of({".relaxed", ".release"}) + scope() + ".add " + word + " 1";
        default:
            return new_register() + " = ld" +
                   (below(8) ? one_of({".relaxed", ".acquire"}) + scope()
                             : one_of({"", ".volatile"})) +
                   " " + word;
    }
}

std::string RandomPrograms::anything() {
    std::string text;
    const unsigned threads = 2 + below(2);
    for (unsigned thread = 0; thread < threads; ++thread) {
        if (thread) text += " | ";
        const unsigned first_register = registers_;
        const unsigned length = 2 + below(threads == 2 ? 4 : 3);
        for (unsigned k = 0; k < length; ++k) {
            if (k) text += "; ";
            const unsigned known = registers_ - first_register;
            if (known && below(3) == 0)
                text += "if r" + std::to_string(first_register + below(known)) +
                        " == " + one_of({"0", "1", "1"}) + " ";
            const unsigned kind = below(10);
            text += kind < 3 ? data() : kind < 7 ? flag() : fence();
        }
    }
    return text;
}

/// Sets a flag, with what may release what came before.
std::string RandomPrograms::release(const std::string& word, const std::string& value,
                                    const std::string& when) {
    const std::string store = one_of({"st", "st", "atom"});
    const std::string what = (store == "atom" ? ".exch " : " ") + word + " " + value;
    switch (below(4)) {
        case 0:
            return when + store + ".release" + scope() + what;
        case 1:
            return when + store + ".relaxed" + scope() + what;
        default:
            return when + fence() + "; " + when + store + ".relaxed" + scope() + what;
    }
}

/// Looks at a flag, with what may acquire what came before the thread that has set it; or waits.
std::string RandomPrograms::acquire(const std::string& word, const std::string& value,
                                    const std::string& reg) {
    const bool waits = below(3) == 0;
    const bool adds = !waits && below(3) == 0;
    const std::string start =
        (waits ? "until " + value + " " : "") + reg + (adds ? " = atom" : " = ld");
    const std::string end = adds ? ".add " + word + " 1" : " " + word;
    switch (below(4)) {
        case 0:
            return start + ".acquire" + scope() + end;
        case 1:
            return start + ".relaxed" + scope() + end;
        default: {
            const bool is_volatile = waits && below(2);
            return start + (is_volatile ? ".volatile" : ".relaxed" + scope()) + end + "; " +
                   fence();
        }
    }
}

// The first thread hands a word to the second one, and this one may hand it on.
std::string RandomPrograms::message() {
    std::string text = below(3) ? "st x 1; " : "r9 = ld x; ";
    text += release("f", "1", "");
    if (below(4) == 0) text += "; st" + one_of({"", ".relaxed" + scope()}) + " f 1";
    const std::string seen = below(5) ? "if r0 == 1 " : "";
    text += " | " + acquire("f", "1", "r0");
    if (below(2)) text += "; " + seen + one_of({"st x 2", "r1 = ld x", "st.relaxed.gpu x 2"});
    if (below(3)) return text;
    const std::string next = one_of({"f", "g", "g"});
    text += "; " + release(next, "2", seen);
    return text + " | " + acquire(next, "2", "r2") + "; if r2 == 2 " +
           one_of({"st x 3", "r3 = ld x"});
}

std::string RandomPrograms::lock() {
    std::string text;
    const bool by_exchange = below(2);
    for (unsigned thread = 0; thread < 2; ++thread) {
        const std::string taken = "r" + std::to_string(thread), when = "if " + taken + " == 0 ";
        if (thread) text += " | ";
        text += taken + " = atom" + one_of({".acquire", ".acquire", ".relaxed"}) + scope() +
                (by_exchange ? ".exch l 1; " : ".cas l 0 1; ");
        if (below(3) == 0) text += fence() + "; ";
        text += when +
                one_of({"st x " + std::to_string(thread + 1),
                        "r" + std::to_string(thread + 2) + " = ld x"}) +
                "; ";
        text += release("l", "0", when);
    }
    return text;
}

// The last thread that counts reads what the others have stored, and resets the counter.
std::string RandomPrograms::counter() {
    std::string text;
    const unsigned threads = 2 + below(2);
    for (unsigned thread = 0; thread < threads; ++thread) {
        const std::string count = "r" + std::to_string(thread);
        const std::string when = "if " + count + " == " + std::to_string(threads - 1) + " ";
        if (thread) text += " | ";
        if (thread == 0) text += "st x 1; ";
        if (below(3)) text += fence() + "; ";
        text += count + " = atom" + one_of({"", "", ".acq_rel", ".release"}) + scope() + ".add c 1";
        if (below(3)) text += "; " + fence();
        if (below(3)) text += "; " + when + "r" + std::to_string(thread + 4) + " = ld x";
        if (below(3) == 0) text += "; " + when + one_of({"st c 0", "st.relaxed.gpu c 0"});
    }
    return text;
}

std::string RandomPrograms::next() {
    registers_ = 0;
    values_ = 1;
    switch (below(6)) {
        case 0:
            return message();
        case 1:
            return lock();
        case 2:
            return counter();
        default:
            return anything();
    }
}

}  // namespace warpscope::tests::memory_model
