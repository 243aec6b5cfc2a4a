#pragma once

// The recursive descent over MAESTRO's tokens. Internal to the reader.

#include "mapping/data_centric/maestro_reader.h"
#include "mapping/data_centric/maestro_tokens.h"

#include <map>

namespace orrery {

class MaestroParser {
public:
    MaestroParser(std::vector<MaestroToken> tokens, std::string file, FlowConstants constants = {})
        : tokens_(std::move(tokens)), file_(std::move(file)), constants_(std::move(constants)) {}

    Expected<MaestroNetwork> network();
    Expected<DirectiveDataflow> dataflowAlone();

private:
    using Done = Expected<void>;
    const MaestroToken& peek() const { return tokens_[at_]; }
    const MaestroToken& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
    bool accept(std::string_view sign);
    Place placeOf(const MaestroToken& token) const { return {file_, token.line, token.column, ""}; }
    Unexpected wrong(std::string code, std::string message, std::string expected, std::string hint = {}) const;
    Done expect(std::string_view sign, std::string_view after);
    void separators();

    Done constant();
    Done layers(MaestroNetwork& out);
    Done layer(MaestroNetwork& out);
    Done type(MaestroLayer& out);
    Done sizes(std::string_view block, std::map<std::string, std::pair<std::int64_t, int>>& out);
    Done dimensions(MaestroLayer& out);
    Done finish(MaestroLayer& out, const MaestroToken& name);
    Done dataflow(DirectiveDataflow& out);
    Done directive(DirectiveDataflow& out);
    Done skipBlock();
    std::string nameUntilBrace();

    Done sum(SizeExpression& out, int depth);
    Done product(SizeExpression& out, int depth);
    Done factor(SizeExpression& out, int depth);
    Expected<std::pair<FlowDim, bool>> dimension();

    std::vector<MaestroToken> tokens_;
    std::size_t at_ = 0;
    std::string file_;
    FlowConstants constants_;
    std::map<std::string, std::pair<std::int64_t, int>> strides_, dimensions_;  ///< of the layer at hand
    Diagnostics warnings_;
};

}  // namespace orrery
