#pragma once

#include <QPersistentModelIndex>
#include <QStyledItemDelegate>

namespace orrery {
struct Diagnostic;
}

namespace orrery::ui {

class ComponentTreeModel;

/// Name, ×count and a badge of what is wrong; the key numbers on the right, which give way first. Its editor keeps a
/// refused name and says why.
class ComponentTreeDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    ComponentTreeDelegate(const ComponentTreeModel* model, QObject* parent);

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                              const QModelIndex& index) const override;
    bool eventFilter(QObject* watched, QEvent* event) override;

signals:
    void refused(const orrery::Diagnostic& why) const;

private:
    const ComponentTreeModel* model_;
    mutable QPersistentModelIndex editing_;  ///< whose name is being typed
};

}  // namespace orrery::ui
