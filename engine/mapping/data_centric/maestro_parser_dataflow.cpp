#include "base/text/nearest.h"
#include "mapping/data_centric/maestro_parser.h"

#include <fmt/format.h>

namespace orrery {

namespace {

using Kind = MaestroToken::Kind;
using Op = SizeExpression::Op;
constexpr int deepest = 64;           // brackets
constexpr std::size_t longest = 256;  // terms of one size
constexpr std::size_t most = 256;     // directives of one dataflow

const std::vector<std::string> directiveKeys{"SpatialMap", "TemporalMap", "Cluster"};

}  // namespace

Expected<DirectiveDataflow> MaestroParser::dataflowAlone() {
    DirectiveDataflow out;
    out.file = file_;
    const bool wrapped = accept("Dataflow");
    if (wrapped || peek().is("{")) {
        if (auto done = dataflow(out); !done) return tl::unexpected(done.error());
    } else {
        while (peek().kind != Kind::End) {
            if (auto done = directive(out); !done) return tl::unexpected(done.error());
            separators();
        }
    }
    separators();
    if (peek().kind != Kind::End)
        return wrong("maestro.syntax", fmt::format("`{:.60}` follows the dataflow", peek().text), "nothing");
    if (out.directives.empty())
        return wrong("maestro.no-dataflow", "there is no directive", "a TemporalMap or SpatialMap");
    return out;
}

MaestroParser::Done MaestroParser::dataflow(DirectiveDataflow& out) {
    if (auto open = expect("{", "Dataflow"); !open) return open;
    separators();
    while (!accept("}")) {
        if (auto done = directive(out); !done) return done;
        separators();
    }
    return {};
}

MaestroParser::Done MaestroParser::directive(DirectiveDataflow& out) {
    const MaestroToken key = take();
    Directive entry;
    entry.line = key.line;
    if (key.is("SpatialMap")) {
        entry.kind = Directive::Kind::Spatial;
    } else if (key.is("TemporalMap")) {
        entry.kind = Directive::Kind::Temporal;
    } else if (key.is("Cluster")) {
        entry.kind = Directive::Kind::Cluster;
    } else {
        return fail(
            "maestro.directive",
            key.kind == Kind::End ? "the dataflow is not closed" : fmt::format("`{:.60}` is no directive", key.text),
            fmt::format("one of {}, or `}}`", fmt::join(directiveKeys, ", ")), didYouMean(key.text, directiveKeys),
            placeOf(key));
    }
    if (out.directives.size() >= most)
        return fail("maestro.directive", "the dataflow has too many directives", "at most 256", "", placeOf(key));
    if (auto open = expect("(", key.text); !open) return open;
    if (auto done = sum(entry.size, 0); !done) return done;
    accept(",");
    if (entry.kind == Directive::Kind::Cluster) {
        if (peek().is("P") || peek().is("L")) {
            entry.physical = take().text == "P";
        } else if (!peek().is(")")) {
            return wrong("maestro.cluster", fmt::format("`{:.60}` is no kind of cluster", peek().text),
                         "`P` (physical) or `L` (logical)", "`Cluster(8, P);`");
        }
        if (auto close = expect(")", "the cluster's kind"); !close) return close;
        out.directives.push_back(std::move(entry));
        return {};
    }
    if (auto done = sum(entry.offset, 0); !done) return done;
    if (auto close = expect(")", "size and offset"); !close) return close;
    const auto named = dimension();
    if (!named) return tl::unexpected(named.error());
    entry.dim = named->first;
    entry.output = named->second;
    out.directives.push_back(std::move(entry));
    return {};
}

Expected<std::pair<FlowDim, bool>> MaestroParser::dimension() {
    const MaestroToken token = take();
    std::string_view letter = token.text;
    const bool output = letter.size() == 2 && letter[1] == '\'';
    const auto dim = flowDim(letter.substr(0, 1));
    const bool good = dim && (letter.size() == 1 || (output && (*dim == FlowDim::Y || *dim == FlowDim::X)));
    if (good) return std::pair{*dim, output};
    return fail(
        "maestro.dimension",
        token.kind == Kind::End ? "a dimension is missing" : fmt::format("`{:.60}` is no dimension", token.text),
        "one of B, N, G, M, K, C, R, S, Y, X, Y', X'", "`TemporalMap(size, offset) K;`", placeOf(token));
}

MaestroParser::Done MaestroParser::sum(SizeExpression& out, int depth) {
    if (auto done = product(out, depth); !done) return done;
    while (peek().is("+") || peek().is("-")) {
        const Op op = take().text == "+" ? Op::Add : Op::Subtract;
        if (auto done = product(out, depth); !done) return done;
        out.terms.push_back({op, 0, FlowDim::K, false});
    }
    return {};
}

MaestroParser::Done MaestroParser::product(SizeExpression& out, int depth) {
    if (auto done = factor(out, depth); !done) return done;
    while (peek().is("*") || peek().is("/")) {
        const Op op = take().text == "*" ? Op::Multiply : Op::Divide;
        if (auto done = factor(out, depth); !done) return done;
        out.terms.push_back({op, 0, FlowDim::K, false});
    }
    return {};
}

MaestroParser::Done MaestroParser::factor(SizeExpression& out, int depth) {
    if (depth > deepest || out.terms.size() > longest) {
        return wrong("maestro.size", "a size is too long", "fewer than 64 brackets and 256 terms",
                     "give it a name with a Constant line");
    }
    const MaestroToken token = take();
    if (token.kind == Kind::Number) {
        out.terms.push_back({Op::Number, token.number, FlowDim::K, false});
        return {};
    }
    if (token.is("(")) {
        if (auto done = sum(out, depth + 1); !done) return done;
        return expect(")", "the expression");
    }
    if (token.is("Sz")) {
        if (auto open = expect("(", "Sz"); !open) return open;
        const auto named = dimension();
        if (!named) return tl::unexpected(named.error());
        out.terms.push_back({Op::Size, 0, named->first, named->second});
        return expect(")", "the dimension");
    }
    if (const auto found = constants_.find(token.text); token.kind == Kind::Word && found != constants_.end()) {
        out.terms.push_back({Op::Number, found->second, FlowDim::K, false});
        return {};
    }
    if (token.kind == Kind::Word) {
        std::vector<std::string> names;
        for (const auto& each : constants_) names.push_back(each.first);
        return fail("maestro.unknown-constant", fmt::format("`{:.60}` is no constant", token.text),
                    "a whole number, Sz(dimension), or a name that a Constant line defines before",
                    names.empty() ? fmt::format("add `Constant {:.60} 1;` above the network", token.text)
                                  : didYouMean(token.text, names),
                    placeOf(token));
    }
    return fail(
        "maestro.size",
        token.kind == Kind::End ? "a size is missing" : fmt::format("`{:.60}` stands where a size belongs", token.text),
        "a whole number, a constant, or Sz(dimension)", "`TemporalMap(Sz(R), 1) Y;`", placeOf(token));
}

}  // namespace orrery
