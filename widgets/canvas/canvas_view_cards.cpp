// What lies over the drawing for a while: the field of a new name, and the hover card.

#include "hardware/attributes.h"
#include "widgets/canvas/canvas_view_state.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QKeyEvent>
#include <QLineEdit>

#include <algorithm>
#include <functional>

namespace orrery::ui {

namespace {

/// Commits with Enter or when the focus leaves, gives up with Esc.
class NameEdit : public QLineEdit {
public:
    using QLineEdit::QLineEdit;
    std::function<void(const QString&)> done;

protected:
    void keyPressEvent(QKeyEvent* event) override {
        if (event->key() == Qt::Key_Escape) return finish(false);
        if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) return finish(true);
        QLineEdit::keyPressEvent(event);
    }
    void focusOutEvent(QFocusEvent* event) override {
        QLineEdit::focusOutEvent(event);
        if (event->reason() != Qt::PopupFocusReason) finish(true);
    }

private:
    void finish(bool take) {
        if (finished_) return;
        finished_ = true;
        hide();
        deleteLater();
        parentWidget()->setFocus(Qt::OtherFocusReason);
        if (take && done) done(text().trimmed());
    }
    bool finished_ = false;
};

QString valueText(const Component& component, const Attribute& attribute) {
    const AttributeSpec* spec = attributeSpec(component.kind, attribute.name);
    const auto* measure = std::get_if<Measure>(&attribute.value);
    if (measure && spec) return measureText(*measure, spec->dimension);
    return qs(toText(attribute.value));
}

}  // namespace

void CanvasView::State::showRename(int node) {
    view.ensureVisible(scene.path(node));
    const ComponentPath path = scene.path(node);
    const int link = scene.linkOf(node);
    QRectF box = toView(scene.nodes()[node].box);
    if (link >= 0 && !scene.links()[link].line.isEmpty()) {
        const QPointF middle = view.toView(scene.links()[link].line.boundingRect().center());
        box = QRectF(middle - QPointF(60, 12), QSizeF(120, 24));
    }
    auto* edit = new NameEdit(qs(scene.nodes()[node].component->name), &view);
    edit->setObjectName("canvasRename");
    edit->setAccessibleName(view.tr("New name"));
    edit->setToolTip(view.tr("The new name. Enter accepts it, Esc keeps the old one"));
    const int height = edit->sizeHint().height();
    QRectF place(box.topLeft(), QSizeF(std::clamp(box.width(), 120.0, 320.0), height));
    place.moveLeft(std::clamp(place.left(), 0.0, std::max(0.0, view.width() - place.width())));
    place.moveTop(std::clamp(place.top(), 0.0, std::max(0.0, view.height() - place.height())));
    edit->setGeometry(place.toRect());
    edit->done = [this, path](const QString& name) {
        const int now = scene.find(path);
        if (now < 0 || !context.editor || qs(scene.nodes()[now].component->name) == name) return;
        report(context.editor->rename(path, name));
    };
    edit->show();
    edit->selectAll();
    edit->setFocus(Qt::OtherFocusReason);
}

QString CanvasView::State::cardText(int node) const {
    const Component& component = *scene.nodes()[node].component;
    const Hardware& hardware = *scene.hardware();
    QStringList lines = describe(scene, node).toHtmlEscaped().split('\n');
    if (!lines.isEmpty()) lines.front() = "<b>" + lines.front() + "</b>";
    QString html = "<div>" + lines.join("<br>") + "</div><table cellspacing='0' cellpadding='2'>";
    for (const Attribute& attribute : component.attributes) {
        QString source = qs(sourceOf(component, attribute));
        for (const Source& known : hardware.sources) {
            if (qs(known.key) == source) source = qs(known.text);
        }
        if (source.size() > 60) source = source.left(59) + QChar(0x2026);
        QString name = qs(attribute.name);
        html += "<tr><td>" + name.replace('_', ' ').toHtmlEscaped() + "</td><td><b>" +
                valueText(component, attribute).toHtmlEscaped() + "</b></td><td><i>" + source.toHtmlEscaped() +
                "</i></td></tr>";
    }
    html += "</table>";
    const ComponentPath own = scene.path(node);
    const bool unread = std::ranges::any_of(ignored, [&](const ComponentPath& path) {
        return path.size() <= own.size() && std::equal(path.begin(), path.end(), own.begin());
    });
    if (unread)
        html += "<div><i>" +
                CanvasView::tr("No shown method reads this part, so it does not change any answer.").toHtmlEscaped() +
                "</i></div>";
    const std::string place = pathText(hardware.root, scene.path(node));
    for (const Diagnostic& problem : problems) {
        const std::string& at = problem.place.path;
        if (at != place && at.rfind(place + ".", 0) != 0) continue;
        const Palette& colours = Theme::instance().colours();
        const QColor colour = problem.severity == Severity::Error ? colours.bad : colours.warning;
        html += "<div><span style='color:" + colour.name() + "'>" + qs(toText(problem.severity)).toHtmlEscaped() +
                ":</span> " + windowText(problem.message).toHtmlEscaped() + "</div>";
    }
    for (const Mark& mark : marks) {
        if (scene.find(mark.path) == node) html += "<div>" + mark.text.toHtmlEscaped() + "</div>";
    }
    for (const ComponentLoad& load : loads) {
        if (scene.find(load.path) == node) html += "<div>" + load.text.toHtmlEscaped() + "</div>";
    }
    for (const ComponentHeat& each : heat) {
        if (scene.find(each.path) == node) html += "<div>" + each.tip.toHtmlEscaped() + "</div>";
    }
    return html;
}

}  // namespace orrery::ui
