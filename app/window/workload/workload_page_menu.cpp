// The menu of operators, and the what-ifs that it asks for.

#include "app/window/workload/workload_page.h"
#include "widgets/common/text.h"
#include "widgets/graph/graph_view.h"
#include "widgets/plots/operator_facts.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QInputDialog>
#include <QMenu>
#include <QRegularExpression>

#include <algorithm>

namespace orrery::app {

namespace {

/// Types that people try: those that devices of the catalogue have units for.
constexpr DType tried[] = {DType::F32, DType::TF32, DType::BF16, DType::F16,
                           DType::FP8, DType::FP4,  DType::I8,   DType::I4};

std::string lastPart(const std::string& name) {
    return ui::shortName(ui::qs(name)).toStdString();
}

}  // namespace

std::vector<int> WorkloadPage::selectedOperators() const {
    std::vector<int> result;
    const int count = workload_ ? static_cast<int>(workload_->graph.operators.size()) : 0;
    for (const int op : selection_->operators()) {
        if (op >= 0 && op < count) result.push_back(op);
    }
    std::sort(result.begin(), result.end());
    return result;
}

QMenu* WorkloadPage::operatorMenu(QWidget* parent) {
    make();
    auto* menu = new QMenu(parent);
    menu->setObjectName(QStringLiteral("operatorMenu"));
    menu->setToolTipsVisible(true);
    const auto add = [](QMenu* to, const char* name, const QString& text, bool enabled, auto run) {
        QAction* action = to->addAction(text, run);
        action->setObjectName(QLatin1String(name));
        action->setEnabled(enabled);
        return action;
    };
    const std::vector<int> chosen = selectedOperators();
    const int node = graph_->currentNode();
    const auto& scene = graph_->scene();
    add(menu, "graphProducer", tr("Go to the producer\tP"),
        node >= 0 && !scene.into[static_cast<std::size_t>(node)].empty(), [this] { graph_->walk(false); });
    add(menu, "graphConsumer", tr("Go to the consumer\tC"),
        node >= 0 && !scene.outOf[static_cast<std::size_t>(node)].empty(), [this] { graph_->walk(true); });
    const int one = chosen.size() == 1 ? chosen.front() : -1;
    const int group = node >= 0 ? scene.nodes[static_cast<std::size_t>(node)].group : -1;
    const int around = one >= 0 && static_cast<std::size_t>(one) < graph_->hierarchy().groupOf.size()
                           ? graph_->hierarchy().groupOf[static_cast<std::size_t>(one)]
                           : -1;
    if (group >= 0)
        add(menu, "graphUnfold", tr("Unfold\tEnter"), true, [this, group] { graph_->setFolded(group, false); });
    else
        add(menu, "graphFold", tr("Fold the group around it\tBackspace"), around >= 0 && !graph_->isFolded(around),
            [this, around] { graph_->setFolded(around, true); });
    menu->addSeparator();
    add(menu, "showInRoofline", tr("Show in the roofline"), !chosen.empty(),
        [this] { Q_EMIT showInRooflineRequested(); });
    add(menu, "showInGraph", tr("Show in the graph"), one >= 0, [this, one] { graph_->revealOperator(one); });
    add(menu, "copyNames", tr("Copy the name"), !chosen.empty(), [this, chosen] {
        QStringList names;
        for (const int op : chosen) names << ui::qs(workload_->graph.operators[static_cast<std::size_t>(op)].name);
        QGuiApplication::clipboard()->setText(names.join(QLatin1Char('\n')));
    });
    menu->addSeparator();
    add(menu, "fuseSelection", tr("Fuse the selection"), chosen.size() > 1, [this] {
        fuseSelection();
    })->setToolTip(tr("Tensors between them no longer go through memory"));
    int fused = -1;
    const auto& changes = workload_ ? workload_->recipe.whatIfs : std::vector<WhatIf>();
    for (std::size_t i = 0; i < changes.size() && one >= 0; ++i) {
        const auto* fuse = std::get_if<FuseOperators>(&changes[i]);
        if (fuse && fuse->name == workload_->graph.operators[static_cast<std::size_t>(one)].name)
            fused = static_cast<int>(i);
    }
    add(menu, "unfuse", tr("Unfuse"), fused >= 0, [this, fused] {
        std::vector<WhatIf> all = workload_->recipe.whatIfs;
        all.erase(all.begin() + fused);
        Q_EMIT whatIfsRequested(all);
    });
    if (!chosen.empty()) {
        const OperatorKind kind = workload_->graph.operators[static_cast<std::size_t>(chosen.front())].kind;
        QMenu* types = menu->addMenu(tr("Data type of %1").arg(ui::kindText(kind)));
        types->setObjectName(QStringLiteral("retypeKind"));
        for (const DType type : tried) {
            add(types, "retype", ui::qs(toText(type)), true, [this, kind, type] {
                addWhatIf(RetypeKind{kind, type});
            })->setObjectName(QStringLiteral("retype-") + ui::qs(toText(type)));
        }
    }
    if (one >= 0) {
        const Operator& op = workload_->graph.operators[static_cast<std::size_t>(one)];
        QMenu* shapes = menu->addMenu(tr("Change the shape of"));
        shapes->setObjectName(QStringLiteral("changeShape"));
        const auto tensor = [&](TensorId id, int output, const QString& label) {
            const Tensor* found = workload_->graph.tensor(id);
            if (!found || !found->ranked) return;
            add(shapes, "shape", QStringLiteral("%1  %2 …").arg(label, ui::qs(toText(found->shape))), true,
                [this, one, output] { changeShape(one, output); })
                ->setObjectName(QStringLiteral("shape%1").arg(output));
        };
        for (std::size_t i = 0; i < op.outputs.size(); ++i)
            tensor(op.outputs[i], static_cast<int>(i), tr("Output %1").arg(i));
        for (std::size_t i = 0; i < op.inputs.size(); ++i)
            tensor(op.inputs[i], -1 - static_cast<int>(i), tr("Input %1").arg(i));
        shapes->setEnabled(!shapes->isEmpty());
    }
    return menu;
}

void WorkloadPage::addWhatIf(WhatIf change) {
    if (!workload_) return;
    std::vector<WhatIf> all = workload_->recipe.whatIfs;
    // A second wish for the same kind, or the same tensor, takes the place of the first.
    const auto replaces = [&](const WhatIf& before) {
        if (const auto* kind = std::get_if<RetypeKind>(&change)) {
            const auto* other = std::get_if<RetypeKind>(&before);
            return other && other->kind == kind->kind;
        }
        if (const auto* shape = std::get_if<ReshapeOperator>(&change)) {
            const auto* other = std::get_if<ReshapeOperator>(&before);
            return other && other->op == shape->op && other->output == shape->output;
        }
        return false;
    };
    const auto same = std::find_if(all.begin(), all.end(), replaces);
    if (same != all.end())
        *same = std::move(change);
    else
        all.push_back(std::move(change));
    Q_EMIT whatIfsRequested(all);
}

void WorkloadPage::fuseSelection() {
    const std::vector<int> chosen = selectedOperators();
    if (chosen.size() < 2) return;
    const auto& operators = workload_->graph.operators;
    FuseOperators fuse;
    for (const int op : chosen) fuse.operators.push_back(operators[static_cast<std::size_t>(op)].name);
    // Beside the first of them, named after the first and the last.
    const std::string& first = fuse.operators.front();
    const std::string base = first.substr(0, first.size() - lastPart(first).size()) + lastPart(first) + "+" +
                             (chosen.size() > 2 ? "…+" : "") + lastPart(fuse.operators.back());
    const auto taken = [&](const std::string& name) {
        return std::any_of(operators.begin(), operators.end(), [&](const Operator& op) { return op.name == name; });
    };
    fuse.name = base;
    for (int n = 2; taken(fuse.name); ++n) fuse.name = base + " " + std::to_string(n);
    addWhatIf(std::move(fuse));
}

void WorkloadPage::changeShape(int op, int output) {
    const Operator& shown = workload_->graph.operators[static_cast<std::size_t>(op)];
    const TensorId id = output >= 0 ? shown.outputs[static_cast<std::size_t>(output)]
                                    : shown.inputs[static_cast<std::size_t>(-1 - output)];
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(QStringLiteral("shapeDialog"));
    dialog->setWindowTitle(tr("Change a shape"));
    dialog->setLabelText(tr("Shape of %1 %2 of %3, as numbers with × between:")
                             .arg(output >= 0 ? tr("output") : tr("input"))
                             .arg(output >= 0 ? output : -1 - output)
                             .arg(ui::qs(shown.name)));
    dialog->setTextValue(ui::qs(toText(workload_->graph.tensor(id)->shape)));
    connect(dialog, &QInputDialog::textValueSelected, this, [this, name = shown.name, output](const QString& text) {
        ReshapeOperator change{name, output, {}};
        for (const QString& part : text.split(QRegularExpression(QStringLiteral("[×xX*,;\\s]+")), Qt::SkipEmptyParts)) {
            bool whole = false;
            const qlonglong extent = part.toLongLong(&whole);
            if (!whole || extent < 0) {
                Diagnostic refusal;
                refusal.code = "what-if.shape";
                refusal.message = "`" + part.toStdString() + "` is no extent of a shape";
                refusal.expected = "whole numbers with × between: 1×3×224×224";
                return Q_EMIT refused(refusal);
            }
            change.extents.push_back(extent);
        }
        addWhatIf(std::move(change));
    });
    dialog->open();
}

}  // namespace orrery::app
