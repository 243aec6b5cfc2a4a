#pragma once

// What `orrery-layout` is asked and answers. One unit is a pixel; y grows downwards; the drawing's corner is at 0, 0.
//
//   in   {"engine": "dot" | "neato" | "sfdp" | "circo", "leftToRight": bool,
//         "nodes": [[width, height, frame or -1], …], "edges": [[from, to], …], "frames": [[parent or -1, width], …],
//         "titleHeight": number}
//   out  {"nodes": [[x, y], …] centres, "edges": [[x, y, x, y, …], …] points from border to border,
//         "frames": [[left, top, width, height] or null, …], "size": [width, height]}
//
// Frames are laid out by dot; the other engines put each around its nodes, wherever these lie.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace orrery::layout {

constexpr std::size_t mostNodes = 20'000, mostEdges = 100'000, mostFrames = 20'000;
constexpr std::size_t mostInput = std::size_t{64} << 20;  ///< bytes
constexpr double largestSize = 1e5;                       ///< of a node

struct Request {
    struct Node {
        double width = 0, height = 0;
        std::int32_t frame = -1;
    };
    struct Frame {
        std::int32_t parent = -1;
        double width = 0;
    };
    std::string engine = "dot";
    bool leftToRight = false;
    double titleHeight = 26;
    std::vector<Node> nodes;
    std::vector<std::array<std::int32_t, 2>> edges;
    std::vector<Frame> frames;
};

struct Answer {
    struct Box {
        double left = 0, top = 0, width = 0, height = 0;
    };
    std::vector<std::array<double, 2>> nodes;
    std::vector<std::vector<double>> edges;
    std::vector<std::optional<Box>> frames;
    double width = 0, height = 0;
};

/// Null and a sentence in `why` if the text is not such a request or beyond the limits. Never throws.
std::optional<Request> parseRequest(const std::string& text, std::string& why);
std::string writeAnswer(const Answer& answer);

}  // namespace orrery::layout
